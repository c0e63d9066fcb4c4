import { expect, it } from "vitest";

import { longLinesOf } from "../../../scripts/check/line-lengths.ts";

const long = "a = 1 and ".repeat(12);

it.each([
  ["a template on one line", `const q = sql\`select ${long}\`;`, [1]],
  ["a line within a template", `const q = sql\`\n  select 1\n  where ${long}\`;`, [3]],
  ["a template with a type", `const q = sql<{ a: number }>\`${long}\`;`, [1]],
  [
    "a template within another",
    `const q = sql\`\${[sql\`1\`, { a: "}" }]}\n\${sql\`${long}\`}\`;`,
    [2],
  ],
  ["a statement that an object executes", `db.exec<Row>(\n  \`select\n${long}\`,\n);`, [3]],
])("finds %s", (_, source, lines) => {
  expect(longLinesOf(source)).toEqual(lines);
});

it.each([
  ["behind slashes", `const a = 1;\n  // ${long}`, [2]],
  ["in a block", `/**\n * ${long}\n */`, [2]],
  ["on one line", `/** ${long} */`, [1]],
])("finds a long comment %s", (_, source, lines) => {
  expect(longLinesOf(source)).toEqual(lines);
});

it.each([
  ["code and text", `const q = sql\`select 1\`;\nconst text = \`${long}\`;\n`],
  ["a directive to the linter", `// oxlint-disable-next-line no-empty -- ${long}`],
  ["a link", `/**\n *   https://example.com/${"a".repeat(100)}\n */`],
])("ignores long lines of %s", (_, source) => {
  expect(longLinesOf(source)).toEqual([]);
});
