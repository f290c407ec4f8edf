# groups.rb TURNS: hashes of hashes and strings, grouped and sorted; prints a checksum.
sum = 0
ARGV[0].to_i.times do |turn|
  list = (1..10_000).map { |i| { id: i, name: "name #{i * 7919 % 5003}", tags: [i.to_s * 3, "x" * (i % 60)] } }
  groups = list.group_by { |row| row[:name] }
  sum += groups.map { |name, rows| name.size + rows.sum { |row| row[:tags].join(",").size } }.sum
  sum += list.sort_by { |row| [row[:name], row[:id]] }.first(10).sum { |row| row[:id] }
end
puts sum
