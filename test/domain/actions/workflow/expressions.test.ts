import { describe, expect, it } from "vitest";

import { evaluate } from "../../../../src/domain/actions/workflow/expressions.ts";

const CONTEXTS = {
  github: {
    ref: "refs/heads/main",
    actor: "ada",
    event: { labels: [{ name: "a" }, { name: "b" }], number: 7, map: { x: "1", y: "2" } },
  },
  inputs: { dry: false },
  vars: { constructor: "own", __proto__: null, LONG: "x".repeat(100_000) },
};

const read = (text: string) => evaluate(text, CONTEXTS);

describe("a text with expressions", () => {
  it.each([
    ["no expression", "no expression"],
    ["", ""],
    ["${{ github.actor }}", "ada"],
    ["${{github.ref}} by ${{ gitea.actor }}!", "refs/heads/main by ada!"],
    ["${{ github.nothing.at.all }}", ""],
    ["${{ GitHub.Actor }}", "ada"],
    ["${{ github['actor'] }}", "ada"],
    ["${{ github.event.number == '7' }}", "true"],
    ["${{ 'A' == 'a' }}", "true"],
    ["${{ '}}' }}", "}}"],
    ["${{ inputs.dry && 'dry' || 'wet' }}", "wet"],
    ["${{ join(github.event.labels.*.name, '-') }}", "a-b"],
    ["${{ join(github.event.map.*, ',') }}", "1,2"],
    ["${{ github.event.labels[1].name }}", "b"],
    ["${{ contains(github.event.labels.*.name, 'B') }}", "true"],
    ["${{ startsWith(github.ref, 'REFS/') }}", "true"],
    ["${{ format('{0} {{{1}}}', 1, 'x') }}", "1 {x}"],
    ["${{ toJSON('a<b') }}", '"a<b"'],
    ["${{ fromJSON('[1, 2]')[1] }}", "2"],
    ["${{ case(false, 'a', true, 'b', 'c') }}", "b"],
    ["${{ 0x1F }} ${{ 1.50 }} ${{ -1e3 }}", "31 1.5 -1000"],
    ["${{ null }}|${{ true }}|${{ github.event }}", "|true|Object"],
    // What only a runner knows.
    ["${{ env.A }}${{ secrets.B }}${{ needs.c.result }}${{ steps.d }}", ""],
  ])("%s is %s", async (text, expected) => {
    expect(await read(text)).toBe(expected);
  });

  // The library takes only the first one: findings/workflow-expressions-quotes.sh.
  it("has each doubled quote once", async () => {
    expect(await read("${{ 'it''s Bob''s ''x''' }}")).toBe("it's Bob's 'x'");
  });

  // The library finds a method of its own instead: findings/workflow-expressions-names.sh.
  it("has values of the names that objects of JavaScript have", async () => {
    expect(await read("${{ vars.constructor }}")).toBe("own");
    expect(await read(`\${{ fromJSON('{"__proto__":1,"constructor":2}').constructor }}`)).toBe("2");
    expect(await read("${{ github.constructor }}${{ github.__proto__ }}")).toBe("");
  });
});

describe("an expression that can't be evaluated", () => {
  it.each([
    ["${{ github.ref", "The expression has no '}}'"],
    ["a ${{ }}", "There is no expression"],
    ["${{ github.event.number + 0 }}", "Unexpected symbol: '+'"],
    ["${{ teapot }}", "Unrecognized named-value: 'teapot'"],
    ["${{ teapot() }}", "Unrecognized function: 'teapot'"],
    ["${{ hashFiles('x') }}", "Unrecognized function: 'hashFiles'"],
    ["${{ success() }}", "Unrecognized function: 'success'"],
    ["${{ constructor(1) }}", "Unrecognized function: 'constructor'"],
    ["${{ __proto__(1) }}", "Unrecognized function: '__proto__'"],
    ["${{ join() }}", "Too few parameters supplied: 'join'"],
    ["${{ fromJSON('') }}", "fromJSON gets no JSON: ''"],
    ["${{ format('{1}', 1) }}", "references more arguments than were supplied"],
    ["${{ case(1, 2, 3) }}", "case predicate must evaluate to a boolean value"],
    [`\${{ ${"(".repeat(60)}1${")".repeat(60)} }}`, "Exceeded max expression depth 50"],
    [`\${{ ${"!".repeat(60)}true }}`, "Exceeded max expression depth 50"],
    [`\${{ '${"a".repeat(21_000)}' }}`, "An expression has at most 21000 characters"],
  ])("%s says why", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
    await expect(read(text)).rejects.toMatchObject({ name: "WorkflowError" });
  });
});

describe("an expression that makes much", () => {
  const TOO_MUCH = "The expressions of the file take too much work";
  const nested = (call: (inner: string) => string) => {
    let text = "vars.LONG";
    for (let level = 0; level < 10; level++) text = call(text);
    return `\${{ ${text} }}`;
  };

  it.each([
    ["format", nested((inner) => `format('{0}{0}{0}{0}', ${inner})`)],
    ["one format", `\${{ format('${"{0}".repeat(5000)}', vars.LONG) }}`],
    ["join", `\${{ join(fromJSON('[${"1,".repeat(5000)}1]'), vars.LONG) }}`],
    ["toJSON", nested((inner) => `toJSON(format('{0}{0}', ${inner}))`)],
    ["comparisons", `\${{ ${Array.from({ length: 1500 }, () => "vars.LONG").join("==")} }}`],
    ["many of them", "${{ vars.LONG }}".repeat(1000)],
  ])("by %s is ended", async (_, text) => {
    const startedAt = performance.now();
    await expect(read(text)).rejects.toThrow(TOO_MUCH);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it("by levels of JSON is ended", async () => {
    const deep = `\${{ fromJSON('${"[".repeat(9000)}${"]".repeat(9000)}') }}`;
    expect(await read(deep).catch((error: Error) => error.name)).toMatch(/^(Array|WorkflowError)$/);
  });
});
