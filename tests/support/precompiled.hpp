// What nearly every test includes. Nothing may depend on it: with a compiler cache it is not used.
#pragma once

#include <gmpxx.h>

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
