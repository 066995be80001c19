// What a caller wants to be told: two types in place of std::function, whose header costs every reader of
// ours as much as all of them together.
//
//   CallbackRef   refers to a callable for the length of one call; never keep one
//   Callback      owns a copy of a callable, for what outlives the call
//
// Both may be empty, compare true when they are not, and are called on the thread that makes the call they
// were handed to. Thread-safety: as that of the callable.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "epsilog/accounting/errors.hpp"

namespace epsilog::accounting {

/// Whether there is anything to call: not in an empty std::function or Callback, nor behind a null pointer.
template <class Callable>
[[nodiscard]] bool is_callable(const Callable& callable) {
  if constexpr (!std::is_function_v<Callable> && requires { callable == nullptr; })
    return !(callable == nullptr);
  return true;
}

inline constexpr const char* kNothingToCall = "callback: it is empty, and was needed";

template <class Signature>
class CallbackRef;

template <class Result, class... Arguments>
class CallbackRef<Result(Arguments...)> final {
 public:
  CallbackRef() = default;
  /// Requires  the callable outlives this.
  template <class Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, CallbackRef> &&
           std::is_invocable_r_v<Result, std::remove_reference_t<Callable>&, Arguments...>)
      CallbackRef(Callable&& callable) {  // NOLINT(google-explicit-constructor)
    using Callee = std::remove_reference_t<Callable>;
    if (!is_callable(callable)) return;
    if constexpr (std::is_function_v<Callee>) {
      target_.function = reinterpret_cast<void (*)()>(&callable);
    } else {
      target_.object = const_cast<void*>(
          static_cast<const volatile void*>(&reinterpret_cast<const volatile char&>(callable)));
    }
    call_ = [](Target target, Arguments... arguments) -> Result {
      Callee* called = nullptr;
      if constexpr (std::is_function_v<Callee>) {
        called = reinterpret_cast<Callee*>(target.function);
      } else {
        called = static_cast<Callee*>(target.object);
      }
      return static_cast<Result>((*called)(std::forward<Arguments>(arguments)...));
    };
  }

  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// Throws  InvalidParameter if it is empty, and what the callable throws.
  Result operator()(Arguments... arguments) const {
    if (call_ == nullptr) throw InvalidParameter(kNothingToCall);
    return call_(target_, std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const CallbackRef& callback, std::nullptr_t) noexcept { return !callback; }

 private:
  union Target {
    void* object;
    void (*function)();
  };
  Target target_{};
  Result (*call_)(Target, Arguments...) = nullptr;
};

template <class Signature>
class Callback;

template <class Result, class... Arguments>
class Callback<Result(Arguments...)> final {
 public:
  Callback() = default;
  template <class Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, Callback> &&
           std::is_invocable_r_v<Result, std::remove_reference_t<Callable>&, Arguments...>)
      Callback(Callable&& callable) {  // NOLINT(google-explicit-constructor)
    if (is_callable(callable))
      owned_ = new OwnedCallable<std::decay_t<Callable>>(std::forward<Callable>(callable));
  }
  Callback(const Callback& other) : owned_(other.owned_ == nullptr ? nullptr : other.owned_->copy()) {}
  Callback(Callback&& other) noexcept : owned_(std::exchange(other.owned_, nullptr)) {}
  Callback& operator=(Callback other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Callback() { delete owned_; }

  explicit operator bool() const noexcept { return owned_ != nullptr; }
  /// Throws  InvalidParameter if it is empty, and what the callable throws.
  Result operator()(Arguments... arguments) const {
    if (owned_ == nullptr) throw InvalidParameter(kNothingToCall);
    return owned_->call(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const Callback& callback, std::nullptr_t) noexcept { return !callback; }

 private:
  struct CallableBase {
    CallableBase() = default;
    CallableBase(const CallableBase&) = delete;
    CallableBase& operator=(const CallableBase&) = delete;
    virtual ~CallableBase() = default;
    virtual Result call(Arguments... arguments) = 0;
    [[nodiscard]] virtual CallableBase* copy() const = 0;
  };
  template <class Callable>
  struct OwnedCallable final : CallableBase {
    explicit OwnedCallable(Callable copied) : callable(std::move(copied)) {}
    Result call(Arguments... arguments) override {
      return static_cast<Result>(callable(std::forward<Arguments>(arguments)...));
    }
    [[nodiscard]] CallableBase* copy() const override { return new OwnedCallable(callable); }
    Callable callable;
  };

  CallableBase* owned_ = nullptr;
};

}  // namespace epsilog::accounting
