import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { packageBlobs, packages, packageVersions } from "../../src/db/schema/index.ts";
import { digestOf } from "../support/container-images.ts";
import { db } from "../support/db.ts";
import { make, type TestUser } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";
import { frame, makeCrate } from "./cargo/crates.ts";
import { formOf, makeWheel } from "./pypi/distributions.ts";

/** The request that publishes version 1.0.0 of a package. */
type Publication = (owner: TestUser) => Promise<[method: string, path: string, body: BodyInit]>;

const PUBLICATIONS: Readonly<Record<string, Publication>> = {
  CARGO: async ({ name }) => [
    "PUT",
    `/api/packages/${name}/cargo/api/v1/crates/new`,
    frame(await makeCrate("tool", "1.0.0")),
  ],
  CONTAINER: async ({ name }) => [
    "POST",
    `/v2/${name}/tool/blobs/uploads/?digest=${digestOf("layer")}`,
    "layer",
  ],
  MAVEN: async ({ name }) => [
    "PUT",
    `/api/packages/${name}/maven/org/example/tool/1.0.0/tool-1.0.0.jar`,
    "archive",
  ],
  PYPI: async ({ name }) => [
    "POST",
    `/api/packages/${name}/pypi/`,
    formOf(makeWheel("tool", "1.0.0")),
  ],
};

const contentsOf = async ({ id }: TestUser): Promise<number> =>
  (await db.select().from(packages).where(eq(packages.ownerId, id))).length +
  (await db.select().from(packageVersions).where(eq(packageVersions.ownerId, id))).length +
  (await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, id))).length;

describe.each(Object.entries(PUBLICATIONS))("the limits of %s", (type, publicationOf) => {
  it.each([
    [`PACKAGES_LIMIT_SIZE_${type}`, "4"],
    ["PACKAGES_LIMIT_TOTAL_OWNER_SIZE", "4"],
  ])("refuse what is beyond %s, and leave nothing", async (name, value) => {
    const owner = await make.user();
    const [method, path, body] = await publicationOf(owner);
    const refused = await doorsWith({ [name]: value })(method, path, { as: owner, body });
    expect(refused.status).toBe(403);
    expect(await contentsOf(owner)).toBe(0);
  });

  it("are those of this format alone", async () => {
    const owner = await make.user();
    const [method, path, body] = await publicationOf(owner);
    const limited = doorsWith({ PACKAGES_LIMIT_SIZE_GENERIC: "4" });
    expect((await limited(method, path, { as: owner, body })).status).toBeLessThan(300);
  });
});
