import { describe, expect, it } from "vitest";

import { listWholeOrNothing, requestOf } from "../../support/package-faults.ts";
import { frame, makeCrate } from "./crates.ts";

describe("a publish request of a crate", { timeout: 240_000 }, () => {
  it("is indexed whole or not at all, whichever call fails", async () => {
    const body = frame(await makeCrate("faulty", "1.0.0"));
    await expect(
      listWholeOrNothing((owner, serve) => {
        const path = `/api/packages/${owner.name}/cargo/api/v1/crates/new`;
        return serve(requestOf(owner, "PUT", path, body));
      }, 1),
    ).resolves.toEqual([0, 1]);
  });
});
