#!/bin/bash
# sqlite-rows.sh COUNT: the SQL that fills an indexed table with so many rows, one statement each, and asks it questions.
echo 'PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, x REAL);'
echo 'BEGIN;'
seq "$1" | awk '{ printf "INSERT INTO t VALUES (%d, '\''name %d of the rows'\'', %d.%d);\n", $1, $1 * 7919 % 100003, $1 % 977, $1 % 10 }'
echo 'COMMIT; CREATE INDEX i ON t (name); SELECT count(*), round(sum(x)) FROM t;'
echo "SELECT name, count(*) FROM t WHERE name LIKE '%77%' GROUP BY name ORDER BY 2 DESC, 1 LIMIT 5;"
