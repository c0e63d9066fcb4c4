import { expect, it } from "vitest";

it("passes, and causes an unhandled rejection", () => {
  void Promise.reject(new Error("unhandled"));
  expect(1).toBe(1);
});
