-- words.lua TURNS: tables of tables and strings, sorted and joined; prints a checksum.
local turns = tonumber(arg[1])
local sum = 0
for turn = 1, turns do
    local words, list = {}, {}
    for i = 1, 20000 do
        local word = "w" .. (i * 7919 % 5003)
        words[word] = (words[word] or 0) + 1
        list[i] = {id = i, name = word .. turn, tags = {i, i % 3}}
    end
    table.sort(list, function(a, b) return a.name < b.name or a.name == b.name and a.id < b.id end)
    sum = sum + list[100].id + words["w7"]
    local parts = {}
    for i = 1, 5000 do parts[#parts + 1] = list[i].name:upper():rep(3) end
    sum = sum + #table.concat(parts, ",")
end
print(sum)
