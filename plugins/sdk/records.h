#pragma once
// The verbs as records: what the C ABI carries, plugins in their own process send, and the journal
// keeps. A request struct names its verb (kVerb) and, where it has a result, that one's type
// (Result). verbs.h shows the bytes; codec.h writes and reads them and trusts nothing.

#include "plugins/sdk/branch_records.h"
#include "plugins/sdk/run_records.h"
#include "plugins/sdk/values.h"
#include "plugins/sdk/verbs.h"
