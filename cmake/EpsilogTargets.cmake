# Flags every target shares. Contraction and fast-math would change correctly rounded
# operations, on which the proofs of the mechanisms stand, so both are fixed off.
add_library(epsilog_flags INTERFACE)
target_compile_features(epsilog_flags INTERFACE cxx_std_20)
target_compile_options(epsilog_flags INTERFACE -fno-fast-math -ffp-contract=off)
# A debug build compiles many sources as one, and GCC would look for garbage in it again and again: an eighth of the
# time of compiling. Each compiler may take 600 MB before it looks the first time.
target_compile_options(epsilog_flags INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:--param=ggc-min-heapsize=600000>)
if(EPSILOG_WARNINGS_ARE_ERRORS)
  target_compile_options(epsilog_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Wdouble-promotion
    -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
  # What GCC says with the same words clang says of more: that std::stable_sort of libstdc++ 12 calls what it has
  # deprecated, and that tests widen doubles to the long doubles in which they compute references.
  target_compile_options(epsilog_flags INTERFACE
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-double-promotion>")
endif()
if(EPSILOG_SANITIZERS)
  target_compile_options(epsilog_flags INTERFACE
    -fsanitize=${EPSILOG_SANITIZERS} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(epsilog_flags INTERFACE -fsanitize=${EPSILOG_SANITIZERS})
endif()

# What is installed runs from wherever it is put.
file(RELATIVE_PATH epsilog_libraries_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
# The daemon is a program that the command runs.
set(epsilog_daemon_folder "${CMAKE_INSTALL_FULL_LIBEXECDIR}/epsilog")
file(RELATIVE_PATH epsilog_daemon_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${epsilog_daemon_folder}")
file(RELATIVE_PATH epsilog_libraries_from_daemon "${epsilog_daemon_folder}" "${CMAKE_INSTALL_FULL_LIBDIR}")

# epsilog_hide_build_paths(<target>): no path of the machine that builds gets into what others run. Debug builds
# are not for others, and a debugger finds their sources by these paths.
function(epsilog_hide_build_paths target)
  foreach(directory "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
    target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${directory}=.>")
  endforeach()
endfunction()

# epsilog_link_program(<target>): statically where that is asked for.
function(epsilog_link_program target)
  get_target_property(sqlitecpp SQLiteCpp TYPE)
  if(EPSILOG_STATIC_COMMAND)
    target_link_options(${target} PRIVATE -static)
  elseif(epsilog_archives AND sqlitecpp STREQUAL STATIC_LIBRARY)
    # A shared library of C++ would bring a second libstdc++, and two copies do not agree.
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# epsilog_precompile(<target>): a fifth of the time of compiling the libraries is the standard library's headers. The
# builds that others get go without, so that each source is seen to include what it uses; a compiler cache keeps
# whole objects and does without.
function(epsilog_precompile target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_CXX_COMPILER_LAUNCHER OR NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  if(NOT TARGET epsilog_precompiled)
    set(source "${PROJECT_BINARY_DIR}/precompiled.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(epsilog_precompiled OBJECT "${source}")
    target_link_libraries(epsilog_precompiled PRIVATE epsilog_flags PkgConfig::GMPXX)
    set_target_properties(epsilog_precompiled PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_precompile_headers(epsilog_precompiled PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp")
    # GCC follows buffers into its own headers, and forgets that they are its own once they are precompiled. With a
    # compiler cache these warnings are on.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(epsilog_flags INTERFACE
        -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM epsilog_precompiled)
endfunction()

# epsilog_compile_together(<target> <count> <source>…): most of the time of compiling a source is what it includes, so
# debug builds compile so many as one, all but those that are named here and those with properties of their own. It is
# left out where the precompiled header is, and for the same reasons.
function(epsilog_compile_together target count)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_CXX_COMPILER_LAUNCHER OR NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# epsilog_library(<layer> HEADERS … SOURCES … PUBLIC … PRIVATE … HEADER_ONLY …)
#
# One target a folder, an archive unless BUILD_SHARED_LIBS. Its public headers live under <layer>/include, which
# only targets that link the layer can see: an include against the arrows of ARCHITECTURE.md does not compile. A
# layer of rooms has neither headers nor sources of its own (EpsilogRooms.cmake).
# What is HEADER_ONLY and private is compiled in, and nobody who links the layer is asked for it.
function(epsilog_library layer)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE;HEADER_ONLY" ${ARGN})
  set(target epsilog_${layer})
  add_library(${target})
  add_library(epsilog::${layer} ALIAS ${target})
  target_sources(${target} PRIVATE ${ARG_SOURCES})
  if(ARG_HEADERS)
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:epsilog_flags>)
  foreach(library IN LISTS ARG_HEADER_ONLY)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  epsilog_hide_build_paths(${target})
  epsilog_precompile(${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${layer}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    DEFINE_SYMBOL ""  # what a shared library exports is not marked in the code
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN"
    VERIFY_INTERFACE_HEADER_SETS ON)
  if(BUILD_SHARED_LIBS AND NOT EPSILOG_SANITIZERS)
    target_link_options(${target} PRIVATE LINKER:-z,defs)  # each names all that it needs
  endif()
  # At the end of the folder, when rooms have added their headers; evaluated now, because ${layer} is gone then.
  cmake_language(EVAL CODE
    "cmake_language(DEFER CALL install TARGETS ${target} EXPORT epsilog-${layer}-targets FILE_SET HEADERS)")
endfunction()
