# MLIR 19.1 as static archives: tools start in about 10 ms instead of 100.
# Pinned by path: Debian has other LLVM versions beside it.
find_package(MLIR 19.1 REQUIRED CONFIG
             PATHS /usr/lib/llvm-19/lib/cmake/mlir NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# Where add_mlir_doc puts docs/.
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# Not HandleLLVMOptions: it adds -fno-exceptions, which SystemC cannot take.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})

# Debian's archives name the dylib target "LLVM"; use the archive instead.
foreach(target IN LISTS MLIR_EXPORTED_TARGETS)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    get_target_property(deps ${target} INTERFACE_LINK_LIBRARIES)
    if(deps)
      list(TRANSFORM deps REPLACE "^LLVM$" "LLVMSupport")
      set_target_properties(${target} PROPERTIES
                            INTERFACE_LINK_LIBRARIES "${deps}")
    endif()
  endif()
endforeach()
set_target_properties(LLVMSupport PROPERTIES
  INTERFACE_LINK_LIBRARIES "rt;dl;m;z;zstd;tinfo;LLVMDemangle")

add_library(orrery_mlir INTERFACE)
target_link_libraries(orrery_mlir INTERFACE MLIRFuncDialect MLIRIR MLIRParser
  MLIRPass MLIRTransforms MLIRTransformUtils)
# TableGen's output names parameters it does not use.
target_compile_options(orrery_mlir INTERFACE -Wno-unused-parameter)
target_link_options(orrery_mlir INTERFACE -fuse-ld=lld -Wl,--as-needed)

# One precompiled header for every MLIR library.
function(orrery_use_pch target)
  if(ORRERY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    if(NOT TARGET orrery_pch)
      file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
      add_library(orrery_pch OBJECT ${CMAKE_BINARY_DIR}/empty.cpp)
      target_link_libraries(orrery_pch PRIVATE orrery_mlir)
      target_precompile_headers(orrery_pch PRIVATE
        ${CMAKE_SOURCE_DIR}/cmake/MlirHeaders.h)
    endif()
    target_precompile_headers(${target} REUSE_FROM orrery_pch)
  endif()
endfunction()
