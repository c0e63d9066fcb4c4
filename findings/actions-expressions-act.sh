#!/usr/bin/env bash
# GitHub's library for expressions of workflows and `act`, which runners of Gitea and Forgejo are
# made from, read the same expressions. One expects the same value, since a server decides about a
# job by the one, and a runner about its steps by the other. They differ where a text is compared
# with a number, in what `.*` makes of an object, in indexes of lists, and in the JSON of a text.
# Seen with @actions/expressions 0.3.61 and github.com/nektos/act 0.2.89.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOWORK=off GOTOOLCHAIN=local

cat > expressions <<'END'
'.5' == 0.5
'0o17' == 15
join(github.event.labels.*, ',')
github.event.list['1']
github.event.list[1.9]
toJSON('a<b')
github.event.list == github.event.list
END

npm init --yes > /dev/null
npm install --silent --no-audit --no-fund @actions/expressions@0.3.61 esbuild@0.28.2
cat > library.mjs <<'END'
import { readFileSync } from "node:fs";
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
const event = { labels: { a: "x", b: "y" }, list: ["one", "two"] };
const context = JSON.parse(JSON.stringify({ github: { event } }), data.reviver);
for (const text of readFileSync("expressions", "utf8").trim().split("\n")) {
  const tree = new Parser(new Lexer(text).lex().tokens, ["github"], []).parse();
  console.log(JSON.stringify(new Evaluator(tree, context).evaluate().coerceString()));
}
END
npx esbuild library.mjs --bundle --platform=node --format=cjs --outfile=library.cjs --log-level=error
node library.cjs > library

mkdir act
cat > act/main.go <<'END'
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/nektos/act/pkg/exprparser"
	"github.com/nektos/act/pkg/model"
)

func main() {
	event := map[string]interface{}{
		"labels": map[string]interface{}{"a": "x", "b": "y"},
		"list":   []interface{}{"one", "two"},
	}
	environment := &exprparser.EvaluationEnvironment{Github: &model.GithubContext{Event: event}}
	interpreter := exprparser.NewInterpeter(environment, exprparser.Config{})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		value, err := interpreter.Evaluate(lines.Text(), exprparser.DefaultStatusCheckNone)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		text, _ := json.Marshal(value)
		fmt.Println(string(text))
	}
}
END
(
  cd act
  go mod init example.com/act
  go get github.com/nektos/act@v0.2.89
  go mod tidy
  go build -o ../act-evaluate .
) > go.log 2>&1 || { cat go.log; exit 1; }
./act-evaluate < expressions > act-values

paste -d '|' expressions library act-values | tee values
diff - values <<'END'
'.5' == 0.5|"true"|false
'0o17' == 15|"true"|false
join(github.event.labels.*, ',')|"x,y"|"Object"
github.event.list['1']|"two"|[null,null]
github.event.list[1.9]|"two"|null
toJSON('a<b')|"\"a<b\""|"\"a\\u003cb\""
github.event.list == github.event.list|"true"|error: Compare not implemented for types: left: slice, right: slice
END
