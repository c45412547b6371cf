# CUDA is optional: ORRERY_CUDA says whether there is a compiler. Its host
# compiler must be a g++ that nvcc knows; libstdc++ is the same as clang's.
set(ORRERY_CUDA OFF)
option(ORRERY_WITH_CUDA "Build the GPU kernels for devices, if nvcc is found"
       ON)

# Hints, in the environment: check_language tries what these name, and takes a
# CMAKE_CUDA_COMPILER that is set already for one that works.
find_program(ORRERY_NVCC nvcc NO_CACHE NO_CMAKE_PATH NO_CMAKE_SYSTEM_PATH
             NO_CMAKE_ENVIRONMENT_PATH)
if(NOT DEFINED ENV{CUDACXX} AND NOT ORRERY_NVCC AND
   EXISTS /usr/local/cuda/bin/nvcc) # not everybody's PATH has it
  set(ENV{CUDACXX} /usr/local/cuda/bin/nvcc)
endif()
if(NOT DEFINED ENV{CUDAHOSTCXX} AND EXISTS /usr/bin/g++-12)
  set(ENV{CUDAHOSTCXX} /usr/bin/g++-12)
endif()

include(CheckLanguage)
if(ORRERY_WITH_CUDA)
  check_language(CUDA)
endif()
if(ORRERY_WITH_CUDA AND CMAKE_CUDA_COMPILER)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version
                  OUTPUT_VARIABLE version ERROR_QUIET)
  set(architectures 80 90)
  if(version MATCHES "release ([0-9.]+)" AND
     CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12.8)
    list(APPEND architectures 100)
  endif()
  if(DEFINED ENV{CUDAARCHS}) # CMake's own name for it
    set(architectures $ENV{CUDAARCHS})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING
      "GPUs the reference's kernels are compiled for")
  enable_language(CUDA)
  # CMake 3.25 does not know nvcc's C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(ORRERY_CUDA ON)
elseif(ORRERY_WITH_CUDA)
  message(STATUS
          "CUDA: no compiler that works; the GPU reference is emulated only")
else()
  message(STATUS "CUDA: turned off; the GPU reference is emulated only")
endif()

# Flags of the numerics: nothing fused, divided or flushed that numerics.h does
# not say.
function(orrery_cuda_options target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:
    --fmad=false --prec-div=true --prec-sqrt=true --ftz=false
    --expt-relaxed-constexpr --Werror=all-warnings
    # Takes an assignment to a [[nodiscard]] class for a value not looked at.
    -diag-suppress=2810
    # -Wrestrict of g++ 12 sees an overlap in "[" + std::string (GCC 105651).
    -Xcompiler=-Wall,-Wextra,-ffp-contract=off,-Wno-restrict>)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
endfunction()
