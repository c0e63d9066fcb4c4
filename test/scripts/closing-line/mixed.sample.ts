import { expect, it } from "vitest";

it("passes", () => expect(1).toBe(1));
it("passes as well", () => expect(2).toBe(2));
it("fails", () => expect(1).toBe(2));
// The last two are counted as skipped.
// oxlint-disable vitest/no-disabled-tests, vitest/warn-todo
it.skip("is left out", () => expect(1).toBe(1));
it.todo("is to be written");
