# Takes the archives of all libraries, so that the command can be linked with -static.
if(BUILD_SHARED_LIBS)
  message(FATAL_ERROR "EPSILOG_STATIC_COMMAND links archives: it goes without BUILD_SHARED_LIBS")
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
# Its own package names the shared library, whatever else is there.
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML_CPP REQUIRED IMPORTED_TARGET GLOBAL yaml-cpp)
add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
target_link_libraries(yaml-cpp::yaml-cpp INTERFACE PkgConfig::YAML_CPP)
