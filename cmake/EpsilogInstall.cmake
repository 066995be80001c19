include(CMakePackageConfigHelpers)

set(epsilog_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/epsilog)
install(EXPORT epsilog-targets NAMESPACE epsilog:: DESTINATION ${epsilog_cmake_dir})
configure_package_config_file(cmake/epsilog-config.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config.cmake" INSTALL_DESTINATION ${epsilog_cmake_dir})
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/epsilog-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config-version.cmake"
  cmake/EpsilogDependencies.cmake
  DESTINATION ${epsilog_cmake_dir})
install(FILES schema/policy.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/epsilog)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
