import { expect, it } from "vitest";

import { chooseMutations, findMutations, mutate } from "../../scripts/mutate/mutations.ts";

const text = `const NAME_MAX = 1_000;
const other = 5;
export function f(a: number) {
  if (a > 3) throw new Error();
  if (a > 4) {
    return;
  }
  return record({
    type: "issue.closed",
  });
}
const g = {
  type: "pull.merged",
};
`;

const found = findMutations([
  { file: "src/domain/a.ts", text },
  { file: "src/shapes/b.ts", text: '  type: "issue.closed",' },
]);

it("finds guards, bounds and recorded events", () => {
  expect(found.map(({ kind, line, after }) => [kind, line, after])).toEqual([
    ["bound", 1, "const NAME_MAX = 1_000 * 10;"],
    ["guard", 4, "  if (false) throw new Error();"],
    ["event", 9, '    type: "pull.merged",'],
    ["event", 13, '  type: "issue.closed",'],
  ]);
});

it("chooses of each kind in turn, and the same for the same seed", () => {
  const chosen = chooseMutations(found, 3, 7);
  expect(chosen.map(({ kind }) => kind)).toEqual(["guard", "bound", "event"]);
  expect(chooseMutations(found, 3, 7)).toEqual(chosen);
  expect(chooseMutations(found, 30, 7)).toHaveLength(4);
});

it("changes one line", () => {
  const [, guard] = found;
  const changed = guard ? mutate(text, guard) : "";
  expect(changed).toBe(text.replace("if (a > 3)", "if (false)"));
});
