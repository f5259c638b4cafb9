# Writes docs/conditions.md from the comments of api/v1/conditions.go, so that
# code and reference cannot differ.
BEGIN {
	print "<!-- Written by 'make generate' from api/v1/conditions.go. -->"
	print "# Conditions and events"
	print ""
	print "`kubectl describe` shows both. The reasons are stable; the messages are for people and may change."
}
function flush_row(value) {
	sub(/^[A-Za-z]+:? */, "", text)
	printf "| `%s` | %s |\n", value, text
	text = ""
}
/^\/\/ / && !inside { heading = substr($0, 4); next }
/^const \(/ {
	inside = 1
	sub(/\.$/, "", heading)
	printf "\n## %s\n\n| value | what it means, and what to do |\n|---|---|\n", heading
	next
}
/^\)/ { inside = 0; next }
inside && /^\t\/\/ ./ {
	line = $0
	sub(/^\t\/\/ /, "", line)
	if (line ~ /^The rest \(False\)/) { note = line; next }
	if (note != "") { note = note " " line; next }
	text = text == "" ? line : text " " line
	next
}
inside && /^$/ {
	if (note != "") { sub(/^The rest \(False\) keep/, "The rest keeps", note); printf "| | *%s* |\n", note; note = "" }
	next
}
inside && / = "/ { value = $NF; gsub(/"/, "", value); flush_row(value) }
