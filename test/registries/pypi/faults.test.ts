import { describe, expect, it } from "vitest";

import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { formOf, makeSdist, makeWheel } from "./distributions.ts";

describe("an upload of a distribution", { timeout: 240_000 }, () => {
  it.each([
    ["a wheel", async () => makeWheel("faulty", "1.0")],
    ["a source distribution", () => makeSdist("faulty", "1.0")],
  ])("is listed whole or not at all, whichever call fails, with %s", async (_, makeOne) => {
    const made = await makeOne();
    await expect(
      listWholeOrNothing(
        (owner, serve) =>
          serve(requestOf(owner, "POST", `/api/packages/${owner.name}/pypi/`, formOf(made))),
        1,
      ),
    ).resolves.toEqual([0, 1]);
  });
});
