# epsilog_archives: whether the libraries that Epsilog stands on are linked as archives. Loading them takes a third
# of the time of a short command. EPSILOG_STATIC_COMMAND asks for it; otherwise an optimised build of Epsilog alone
# has it where all of them have archives.
set(epsilog_archives OFF)
if(EPSILOG_STATIC_COMMAND AND BUILD_SHARED_LIBS)
  message(FATAL_ERROR "EPSILOG_STATIC_COMMAND links archives: it goes without BUILD_SHARED_LIBS")
elseif(EPSILOG_STATIC_COMMAND)
  set(epsilog_archives ON)
elseif(EPSILOG_STATIC_LIBRARIES AND PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE MATCHES "^Rel"
    AND NOT BUILD_SHARED_LIBS AND NOT EPSILOG_SANITIZERS)
  set(epsilog_archives ON)
  foreach(library gmp gmpxx mpfr nettle sodium sqlite3 yaml-cpp SQLiteCpp)
    find_library(EPSILOG_ARCHIVE_${library} lib${library}.a)
    mark_as_advanced(EPSILOG_ARCHIVE_${library})
    if(NOT EPSILOG_ARCHIVE_${library})
      set(epsilog_archives OFF)
    endif()
  endforeach()
endif()

# Where each library was found is kept in the cache: who changes the option of a build that is there means them all.
if(NOT EPSILOG_ARCHIVES_BEFORE STREQUAL epsilog_archives)
  get_cmake_property(kept CACHE_VARIABLES)
  list(FILTER kept INCLUDE REGEX "^(pkgcfg_lib_|SQLite3_LIBRARY)")
  foreach(library IN LISTS kept)
    unset(${library} CACHE)
  endforeach()
endif()
set(EPSILOG_ARCHIVES_BEFORE ${epsilog_archives} CACHE INTERNAL "epsilog_archives when this was last configured")

if(epsilog_archives)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # Its own package names the shared library, whatever else is there.
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(YAML_CPP REQUIRED IMPORTED_TARGET GLOBAL yaml-cpp)
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE PkgConfig::YAML_CPP)
  set(yaml-cpp_VERSION "${YAML_CPP_VERSION}")
endif()
