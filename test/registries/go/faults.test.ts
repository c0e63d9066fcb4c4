import { describe, expect, it } from "vitest";

import { makeZip } from "../../support/archives.ts";
import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";

describe("an upload of a module", { timeout: 240_000 }, () => {
  it("is listed whole or not at all, whichever call fails", async () => {
    const body = makeZip([
      { path: "example.com/faulty@v1.0.0/go.mod", content: "module example.com/faulty\n" },
    ]);
    await expect(
      listWholeOrNothing(
        (owner, serve) =>
          serve(requestOf(owner, "PUT", `/api/packages/${owner.name}/go/upload`, body)),
        1,
      ),
    ).resolves.toEqual([0, 1]);
  });
});
