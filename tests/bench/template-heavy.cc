/*
 * Template-heavy C++ for `g++ -O1 -c`: the compiler allocates and frees millions of small nodes. Also a program, so that
 * the result of the compilation can be run; it prints one line.
 */
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

template <std::size_t N> struct item {
    std::tuple<std::map<int, std::string>, std::vector<std::array<char, N + 1>>, std::shared_ptr<item<N / 2>>> parts;
    std::variant<int, std::string, std::unique_ptr<item<N / 3>>> value;

    std::size_t weigh() const
    {
        return std::get<0>(parts).size() + std::get<1>(parts).size() + value.index() +
               (std::get<2>(parts) ? std::get<2>(parts)->weigh() : N);
    }
};

template <> struct item<0> {
    std::size_t weigh() const
    {
        return 1;
    }
};

template <std::size_t N> std::size_t use(std::size_t seed)
{
    item<N> one;
    std::get<0>(one.parts)[int(seed)] = std::to_string(N);
    std::get<1>(one.parts).resize(seed % 5);
    std::get<2>(one.parts) = std::make_shared<item<N / 2>>();
    std::unordered_map<std::string, std::function<std::size_t(std::size_t)>> calls;
    calls["add"] = [](std::size_t x) { return x + N; };
    calls["xor"] = [](std::size_t x) { return x ^ N; };
    std::set<std::pair<std::size_t, std::string>> sorted;
    for (auto &[name, call] : calls)
        sorted.emplace(call(seed), name);
    return one.weigh() + sorted.begin()->first;
}

template <std::size_t... N> std::size_t use_all(std::index_sequence<N...>)
{
    return (use<N + 1>(N * 3) + ...);
}

int main()
{
    std::vector<std::string> words{"pool", "mark", "span", "class", "bin"};
    std::sort(words.begin(), words.end(), std::greater<>());
    std::regex vowels("[aeiou]");
    for (auto &word : words)
        word = std::regex_replace(word, vowels, "_");
    std::cout << use_all(std::make_index_sequence<5>()) << ' '
              << std::accumulate(words.begin(), words.end(), std::string()) << '\n';
}
