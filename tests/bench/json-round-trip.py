"""json-round-trip.py ROUNDS: records to JSON and back, the work of many web programs; prints a digest."""
import hashlib
import json
import sys

digest = hashlib.sha256()
for turn in range(int(sys.argv[1])):
    records = [
        {"id": n, "name": "name %d" % (n * turn), "tags": ["t%d" % (n % k) for k in (3, 5, 7, 11)],
         "where": {"x": n / 7, "y": -n / 3, "note": "é" * (n % 40)}, "none": None, "yes": n % 2 == 0}
        for n in range(4000)
    ]
    text = json.dumps(records, sort_keys=True)
    again = json.loads(text)
    assert again == records
    digest.update(json.dumps(again, indent=1).encode())
print(digest.hexdigest())
