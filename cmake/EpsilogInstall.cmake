include(CMakePackageConfigHelpers)

set(epsilog_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/epsilog)
foreach(component accounting mechanisms ledger engine testing)
  install(EXPORT epsilog-${component}-targets NAMESPACE epsilog:: DESTINATION ${epsilog_cmake_dir})
endforeach()
configure_package_config_file(cmake/epsilog-config.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config.cmake" INSTALL_DESTINATION ${epsilog_cmake_dir})
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/epsilog-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/epsilog-config-version.cmake"
  cmake/EpsilogDependencies.cmake
  DESTINATION ${epsilog_cmake_dir})

# For builds without CMake. Archives leave what they need to whoever links them, so it is required outright;
# shared libraries bring it along, and only the libraries of the public headers are. SQLiteCpp has no .pc.
set(epsilog_pc_public "gmpxx, gmp, mpfr >= 4.1")
set(epsilog_pc_hidden "libsodium >= 1.0.18, nettle >= 3.7, sqlite3 >= 3.40, yaml-cpp")
if(BUILD_SHARED_LIBS)
  set(epsilog_pc_requires "${epsilog_pc_public}")
  set(epsilog_pc_libs "")
else()
  set(epsilog_pc_requires "${epsilog_pc_public}, ${epsilog_pc_hidden}")
  set(epsilog_pc_libs " -lSQLiteCpp -pthread -ldl")
endif()
set(epsilog_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR epsilog_fixed_libdir)
if(epsilog_fixed_libdir)
  set(epsilog_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  # From where the .pc lies, so that the installed tree can be moved.
  file(RELATIVE_PATH epsilog_pc_prefix "/${epsilog_pc_dir}" "/")
  set(epsilog_pc_prefix "\${pcfiledir}/${epsilog_pc_prefix}")
  string(REGEX REPLACE "/$" "" epsilog_pc_prefix "${epsilog_pc_prefix}")
endif()
cmake_path(APPEND epsilog_pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND epsilog_pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/epsilog.pc.in "${CMAKE_CURRENT_BINARY_DIR}/epsilog.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/epsilog.pc" DESTINATION ${epsilog_pc_dir})

install(FILES schema/policy.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/epsilog)
install(PROGRAMS verifier/epsilog_verify.py DESTINATION ${CMAKE_INSTALL_DATADIR}/epsilog)
install(FILES LICENSE README.md THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
