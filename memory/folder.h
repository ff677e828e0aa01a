#pragma once
// The store's folder: whose it is, and who may look into it.

#include <string>

#include "base/status.h"

namespace thinkd::memory {

// Makes DIR and DIR/db (mode 0700) where they are missing. Of those that are there, DIR/db is made
// 0700, and DIR too where it holds nothing but a store's own names. Refused: a folder of another
// user (unless this one is root), and one with other things in it that others may write to.
Status prepare_folder(const std::string& dir);

}  // namespace thinkd::memory
