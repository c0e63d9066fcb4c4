import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { packageBlobs } from "../../../src/db/schema/index.ts";
import {
  type Descriptor,
  describeContent,
  digestOf,
  manifestOf,
  OCI_INDEX,
  OCI_MANIFEST,
  TestImage,
} from "../../support/container-images.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

const makeImage = (name = freshName("image")): TestImage => new TestImage(owner, name, owner);

const sha512 = (content: string): string => digestOf(content, "sha512");

/** How a manifest names a content by its SHA-512. */
const describe512 = (content: string, mediaType?: string): Descriptor => ({
  ...describeContent(content, mediaType),
  digest: sha512(content),
});

/** The text of a manifest that names its contents by their SHA-512. */
const manifest512 = (config: string, layers: readonly string[], more: object = {}): string =>
  manifestOf(config, [], {
    config: describe512(config, "application/vnd.oci.image.config.v1+json"),
    layers: layers.map((layer) => describe512(layer)),
    ...more,
  });

const codeOf = ({ body }: { body: unknown }) =>
  (body as { errors: [{ code: string }] }).errors[0].code;

describe("a blob with a SHA-512", () => {
  it("is uploaded at once, in chunks, or with its last request, and found by both digests", async () => {
    const image = makeImage();
    expect((await image.upload("at once", sha512("at once"))).status).toBe(201);
    const path = await image.begin();
    await image.request("PATCH", path, { body: "in " });
    const chunked = await image.request("PUT", `${path}?digest=${sha512("in chunks")}`, {
      body: "chunks",
    });
    expect(chunked.headers.get("Docker-Content-Digest")).toBe(sha512("in chunks"));
    for (const content of ["at once", "in chunks"]) {
      for (const digest of [sha512(content), digestOf(content)]) {
        const blob = await image.get(`blobs/${digest}`);
        expect([blob.status, blob.body]).toEqual([200, content]);
        expect(blob.headers.get("Docker-Content-Digest")).toBe(digest);
      }
    }
  });

  it("is refused if it is of another content, and nothing of it stays", async () => {
    const fresh = await make.user();
    const image = new TestImage(fresh, "image", fresh);
    const path = await image.begin();
    for (const answer of [
      await image.upload("one", sha512("another")),
      await image.request("PUT", `${path}?digest=${sha512("another")}`, { body: "one" }),
      await image.upload("one", sha512("one").toUpperCase()),
      await image.upload("one", sha512("one").slice(0, -1)),
      await image.upload("one", digestOf("one").replace("sha256", "sha512")),
    ]) {
      expect([answer.status, codeOf(answer)]).toEqual([400, "DIGEST_INVALID"]);
    }
    const blobs = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, fresh.id));
    expect(blobs).toEqual([]);
  });

  it("is stored once under both digests, and deleted under either", async () => {
    const image = makeImage();
    const content = freshName("twice");
    await image.upload(content);
    await image.upload(content, sha512(content));
    const rows = await db.select().from(packageBlobs).where(eq(packageBlobs.ownerId, owner.id));
    expect(rows.filter(({ sha256 }) => digestOf(content) === `sha256:${sha256}`)).toHaveLength(1);
    const deleted = await image.request("DELETE", `blobs/${sha512(content)}`);
    expect(deleted.status).toBe(202);
    for (const digest of [sha512(content), digestOf(content)]) {
      expect((await image.get(`blobs/${digest}`)).status).toBe(404);
    }
  });

  it("is mounted from another image", async () => {
    const [source, image] = [makeImage(), makeImage()];
    await source.upload("mounted", sha512("mounted"));
    const from = source.path.slice("/v2/".length);
    const mounted = await image.request(
      "POST",
      `blobs/uploads/?mount=${sha512("mounted")}&from=${encodeURIComponent(from)}`,
    );
    expect(mounted.status).toBe(201);
    expect((await image.get(`blobs/${sha512("mounted")}`)).body).toBe("mounted");
  });
});

describe("a manifest with a SHA-512", () => {
  it("is published under it, names contents by theirs, and is found by both digests", async () => {
    const image = makeImage();
    for (const content of ["{}", "layer"]) await image.upload(content, sha512(content));
    const manifest = manifest512("{}", ["layer"]);
    const published = await image.publish(sha512(manifest), manifest);
    expect(published.status).toBe(201);
    expect(published.headers.get("Docker-Content-Digest")).toBe(sha512(manifest));
    for (const digest of [sha512(manifest), digestOf(manifest)]) {
      const found = await image.get(`manifests/${digest}`);
      expect(found.status).toBe(200);
      expect(found.headers.get("Docker-Content-Digest")).toBe(digest);
    }
    // A manifest without a tag is no tag, under whatever digest.
    expect((await image.get("tags/list")).body).toMatchObject({ tags: [] });
    expect((await image.get(`blobs/${sha512("layer")}`)).body).toBe("layer");
  });

  it("gets a tag, and goes with all of its tags", async () => {
    const image = makeImage();
    for (const content of ["{}", "layer"]) await image.upload(content);
    // Contents that were uploaded under SHA-256 are the same contents.
    const manifest = manifest512("{}", ["layer"]);
    await image.publish(sha512(manifest), manifest);
    await image.publish("v1", manifest);
    expect((await image.get("manifests/v1")).headers.get("Docker-Content-Digest")).toBe(
      digestOf(manifest),
    );
    expect((await image.get("tags/list")).body).toMatchObject({ tags: ["v1"] });
    const deleted = await image.request("DELETE", `manifests/${sha512(manifest)}`);
    expect(deleted.status).toBe(202);
    for (const reference of ["v1", sha512(manifest), digestOf(manifest)]) {
      expect((await image.get(`manifests/${reference}`)).status).toBe(404);
    }
  });

  it("is refused if a content is missing, which it names", async () => {
    const image = makeImage();
    await image.upload("{}");
    const manifest = manifest512("{}", ["missing"]);
    const answer = await image.publish(sha512(manifest), manifest);
    expect([answer.status, codeOf(answer)]).toEqual([404, "MANIFEST_BLOB_UNKNOWN"]);
    expect(answer.body).toMatchObject({ errors: [{ detail: { digest: sha512("missing") } }] });
    const other = await image.publish(sha512("other"), manifestOf("{}", []));
    expect([other.status, codeOf(other)]).toEqual([400, "DIGEST_INVALID"]);
  });

  it("is named by an index, with what it needs", async () => {
    const image = makeImage();
    for (const content of ["{}", "layer"]) await image.upload(content, sha512(content));
    const manifest = manifest512("{}", ["layer"]);
    await image.publish(sha512(manifest), manifest);
    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: OCI_INDEX,
      manifests: [describe512(manifest, OCI_MANIFEST)],
    });
    expect((await image.publish("all", index)).status).toBe(201);
    await image.request("DELETE", `manifests/${sha512(manifest)}`);
    // What the index names stays with it.
    expect((await image.get(`manifests/${sha512(manifest)}`)).status).toBe(200);
    expect((await image.get(`blobs/${sha512("layer")}`)).status).toBe(200);
  });

  it("refers to a subject by its SHA-512, and is listed under its own digest", async () => {
    const image = makeImage();
    await image.upload("{}", sha512("{}"));
    const subject = manifest512("{}", []);
    await image.publish(sha512(subject), subject);
    const about = manifest512("{}", [], { subject: describe512(subject, OCI_MANIFEST) });
    const published = await image.publish(sha512(about), about);
    expect(published.headers.get("OCI-Subject")).toBe(sha512(subject));
    const { body } = await image.get(`referrers/${sha512(subject)}`);
    expect(JSON.parse(body as string)).toMatchObject({ manifests: [{ digest: sha512(about) }] });
  });
});
