import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { removeUnusedImages } from "../../../src/domain/people/avatars/remove-unused-images.ts";
import { countFiles, hashOf, imagesOf } from "../../support/avatars.ts";
import { call, visit, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy } from "../../support/events.ts";
import { chunk, PIXELS, pngOf, pngWith } from "../../support/images.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

/** An image that no other test has. */
const freshImage = (): string => pngOf(1, 1, freshName("image"));
const set = (as: TestUser, image: unknown, sending: Sending = {}) =>
  call("POST", "/user/avatar", { as, json: { image }, ...sending });
const addressOf = async (as: TestUser): Promise<string> =>
  new URL((await call("GET", "/user", { as })).body.avatar_url).pathname;
const show = (path: string) => visit("GET", path);

const HOUR_MS = 60 * 60 * 1000;
/** Runs the job as if the given time had passed. */
const removeUnused = (afterMs: number) => removeUnusedImages(systemCtx({}, Date.now() + afterMs));

describe("POST /user/avatar", () => {
  it.each(Object.entries(PIXELS))("shows an image of type %s", async (contentType, image) => {
    const user = await make.user();
    expect(await set(user, image)).toMatchObject({ status: 204, body: "" });

    const path = await addressOf(user);
    expect(path).toBe(`/avatars/${hashOf(image)}`);
    const { status, headers } = await show(path);
    expect([status, headers.get("Content-Type")]).toEqual([200, contentType]);
    expect(await eventsBy(user)).toMatchObject([
      { type: "user.edited", ownerId: user.id, payload: { changed: ["avatar"] } },
    ]);
  });

  it("takes one file for all who have the same image", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const image = freshImage();
    const { line } = await logged(() => set(user, image));
    expect(line.d1Rounds).toBe(3);
    await set(other, image);
    expect(await set(user, image)).toMatchObject({ status: 204 });

    expect(await countFiles(hashOf(image))).toBe(1);
    expect(await imagesOf(hashOf(image))).toMatchObject([{ expiresAt: null }]);
    expect(await eventsBy(user)).toHaveLength(1);
  });

  it("keeps one file of images that are uploaded at the same time", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => make.user()));
    const image = freshImage();
    const answers = await Promise.all(people.map((user) => set(user, image)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);

    await removeUnused(3 * HOUR_MS);
    expect(await imagesOf(hashOf(image))).toMatchObject([{ expiresAt: null }]);
    expect(await countFiles(hashOf(image))).toBe(1);
    expect((await show(await addressOf(people[0] as TestUser))).status).toBe(200);
  });

  it.each([
    ["no base64", "%%%", 400],
    // Clients that send what a browser shows get this error, as from Gitea.
    ["the address of an image", `data:image/png;base64,${PIXELS["image/png"]}`, 400],
    ["no image", "aGVsbG8=", 422],
    ["SVG", btoa('<svg xmlns="http://www.w3.org/2000/svg"/>'), 422],
    ["nothing", "", 422],
    ["a number", 1, 422],
    ["no field", undefined, 422],
    // A file of 70 bytes that takes gigabytes where it is shown.
    ["too many pixels in width", pngOf(4097, 1), 422],
    ["too many pixels in height", pngOf(1, 65_535), 422],
    ["too many bytes", pngOf(1, 1, "x".repeat(1024 * 1024)), 422],
  ])("refuses %s, and keeps the avatar", async (_name, image, status) => {
    const user = await make.user();
    const answer = await set(user, image);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(/^\[image\]: (?:must |is required)/);
    expect([await addressOf(user), await eventsBy(user)]).toEqual([`/avatars/${user.id}`, []]);
  });

  // SECURITY: cameras note where a photograph was taken, and everybody sees an avatar.
  it("stores the picture without what a camera noted in it", async () => {
    const user = await make.user();
    const size = Buffer.from("00000001000000010800000000", "hex");
    const pixels = chunk("IDAT", Buffer.from(freshName("pixels")));
    const clean = pngWith(chunk("IHDR", size), pixels);
    const place = chunk("eXIf", Buffer.from("48.2082 N 16.3738 E"));
    expect((await set(user, pngWith(chunk("IHDR", size), place, pixels))).status).toBe(204);
    expect(await addressOf(user)).toBe(`/avatars/${hashOf(clean)}`);
    // The same picture again, with or without them.
    expect((await set(user, clean)).status).toBe(204);
    expect(await imagesOf(hashOf(clean))).toHaveLength(1);
  });

  it("accepts the largest image", async () => {
    const user = await make.user();
    const bytes = 1024 * 1024 - 70 - freshName("image").length;
    expect((await set(user, pngOf(4096, 4096, "x".repeat(bytes - 20)))).status).toBe(204);
  });

  it("is refused without sign-in, without the scope, and to a public-only token", async () => {
    const image = freshImage();
    const user = await make.user();
    expect((await call("POST", "/user/avatar", { json: { image } })).status).toBe(401);
    for (const scopes of ["read:user", "write:repository", "all,public-only"]) {
      const token = await make.token(user, { scopes });
      for (const method of ["POST", "DELETE"]) {
        expect((await call(method, "/user/avatar", { token, json: { image } })).status).toBe(403);
      }
    }
    expect([await addressOf(user), await imagesOf(hashOf(image))]).toEqual([
      `/avatars/${user.id}`,
      [],
    ]);
  });

  it("is removed with the account", async () => {
    const user = await make.user();
    const image = freshImage();
    await set(user, image);
    await db.delete(users).where(eq(users.id, user.id));

    const [row] = await imagesOf(hashOf(image));
    expect(row?.expiresAt).toBeGreaterThan(0);
    await removeUnused(3 * HOUR_MS);
    expect([await imagesOf(hashOf(image)), await countFiles(hashOf(image))]).toEqual([[], 0]);
  });
});

describe("DELETE /user/avatar", () => {
  it("shows the generated avatar again, and removes the image", async () => {
    const user = await make.user();
    const image = freshImage();
    await set(user, image);
    const path = await addressOf(user);
    expect((await call("DELETE", "/user/avatar", { as: user })).status).toBe(204);
    expect((await call("DELETE", "/user/avatar", { as: user })).status).toBe(204);

    expect(await addressOf(user)).toBe(`/avatars/${user.id}`);
    expect((await show(path)).status).toBe(404);
    expect(await eventsBy(user)).toHaveLength(2);
    // A request that found the row before may still open the file.
    await removeUnused(0);
    expect(await countFiles(hashOf(image))).toBe(1);
    await removeUnused(2 * HOUR_MS);
    expect([await imagesOf(hashOf(image)), await countFiles(hashOf(image))]).toEqual([[], 0]);
  });

  it("keeps an image that another account has", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const image = freshImage();
    for (const each of [user, other]) await set(each, image);
    await call("DELETE", "/user/avatar", { as: user });
    await removeUnused(2 * HOUR_MS);
    expect((await show(await addressOf(other))).status).toBe(200);

    await set(other, freshImage());
    await removeUnused(2 * HOUR_MS);
    expect(await countFiles(hashOf(image))).toBe(0);
  });

  it("leaves no trace of an image that is set again before its file is removed", async () => {
    const user = await make.user();
    const image = freshImage();
    await set(user, image);
    await call("DELETE", "/user/avatar", { as: user });
    await set(user, image);
    await removeUnused(2 * HOUR_MS);

    expect((await show(await addressOf(user))).status).toBe(200);
    expect(await countFiles(hashOf(image))).toBe(1);
  });
});
