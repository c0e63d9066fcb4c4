import { Buffer } from "node:buffer";

import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { hashOf } from "../support/avatars.ts";
import { call, visit } from "../support/call.ts";
import { PIXELS } from "../support/images.ts";
import { make } from "../support/make.ts";

/** Fetches an image: the response, its bytes, and the width and height in its PNG header. */
async function fetchPicture(path: string) {
  const response = await exports.default.fetch(`https://forge.example${path}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const view = new DataView(bytes.buffer);
  return { response, bytes, width: view.getUint32(16), height: view.getUint32(20) };
}

describe("GET /avatars/{id}", () => {
  it("returns a PNG that may be cached", async () => {
    const { response, bytes, width, height } = await fetchPicture("/avatars/7");

    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("image/png");
    expect(response.headers.get("Cache-Control")).toBe("public, max-age=86400, immutable");
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(bytes.slice(0, 8)).toEqual(
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    );
    expect([width, height]).toEqual([128, 128]);
  });

  it("returns the same image for the same account, and a different image for another", async () => {
    // Sequential, since the test module loader can't serve two concurrent imports of the same
    // module.
    const first = await fetchPicture("/avatars/7");
    const again = await fetchPicture("/avatars/7");
    const other = await fetchPicture("/avatars/8");

    expect(again.bytes).toEqual(first.bytes);
    expect(other.bytes).not.toEqual(first.bytes);
  });

  it.each([
    ["64", 64],
    ["16", 16],
    ["512", 512],
    // The cost grows with the area, so the size is capped.
    ["513", 512],
    ["100000", 512],
    ["15", 128],
    ["0", 128],
    ["-64", 128],
    ["64.5", 128],
    ["big", 128],
    ["", 128],
  ])("draws size=%s at %i pixels", async (size, px) => {
    const { width, height } = await fetchPicture(`/avatars/7?size=${size}`);

    expect([width, height]).toEqual([px, px]);
  });

  // SECURITY: images for existing accounts only would reveal which accounts exist.
  it("returns images for hidden and missing accounts too", async () => {
    const hidden = await make.user({ visibility: "private" });

    for (const id of [hidden.id, 999_999_999_999_999]) {
      expect((await fetchPicture(`/avatars/${id}`)).response.status).toBe(200);
    }
  });

  it.each(["0", "-1", "abc", "07", "1".repeat(16), "1/2"])(
    "returns 404 for the id %s",
    async (id) => {
      expect((await visit("GET", `/avatars/${id}`)).status).toBe(404);
    },
  );

  it("is the target of avatar_url", async () => {
    const user = await make.user();
    const { body } = await visit("GET", `/api/v1/users/${user.name}`);

    expect((await fetchPicture(new URL(body.avatar_url).pathname)).response.status).toBe(200);
  });
});

describe("GET /avatars/{hash}", () => {
  const image = PIXELS["image/jpeg"];

  it("returns an uploaded image that may be cached and run nothing", async () => {
    await call("POST", "/user/avatar", { as: await make.user(), json: { image } });
    const response = await exports.default.fetch(`https://forge.example/avatars/${hashOf(image)}`);

    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "cache-control": "public, max-age=86400, immutable",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      etag: `"${hashOf(image)}"`,
    });
    expect(Buffer.from(await response.arrayBuffer()).toString("base64")).toBe(image);
  });

  it("answers a condition without the image", async () => {
    await call("POST", "/user/avatar", { as: await make.user(), json: { image } });
    const headers = { "If-None-Match": `"${hashOf(image)}"` };
    const answer = await visit("GET", `/avatars/${hashOf(image)}`, { headers });

    expect([answer.status, answer.body]).toEqual([304, ""]);
  });

  it.each(["0".repeat(64), "0".repeat(63), `${"0".repeat(64)}-x`, "A".repeat(64)])(
    "returns 404 for the hash %s",
    async (hash) => {
      expect((await visit("GET", `/avatars/${hash}`)).status).toBe(404);
    },
  );
});
