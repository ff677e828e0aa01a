include(GNUInstallDirs)
if(TARGET thinkd)
  install(TARGETS thinkd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# The shipped model lies where the program looks for it: under the prefix, and in a build folder too.
set(shipped_models countdown.gguf countdown.scorer.gguf)
foreach(file ${shipped_models})
  configure_file(${PROJECT_SOURCE_DIR}/models/countdown/${file}
                 ${CMAKE_BINARY_DIR}/share/thinkd/models/${file} COPYONLY)
  install(FILES ${PROJECT_SOURCE_DIR}/models/countdown/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/thinkd/models)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins/sdk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/thinkd/plugins
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
