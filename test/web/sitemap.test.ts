import { describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";
import { make } from "../support/make.ts";
import { doorsWith } from "../support/service.ts";

const withSitemap = doorsWith({ ENABLE_SITEMAP: "true" });

/** The file of the sitemap that has the page of an id. */
const fileOf = (kind: "users" | "repos", id: number): string =>
  `/explore/${kind}/sitemap-${Math.ceil(id / 1000)}.xml`;

describe("the sitemap", () => {
  it("lists public accounts and repositories, and none that are hidden", async () => {
    const owner = await make.user();
    const shown = await make.repo(owner);
    const hidden = await make.repo(owner, { isPrivate: true });
    const limited = await make.user({ visibility: "limited" });
    const below = await make.repo(limited);
    const index = await withSitemap("GET", "/sitemap.xml");
    expect(index.status).toBe(200);
    expect(index.headers.get("Content-Type")).toMatch(/^application\/xml/);
    for (const file of [fileOf("users", limited.id), fileOf("repos", below.id)]) {
      expect(index.body).toContain(`<loc>https://forge.example${file}</loc>`);
    }
    const users = await withSitemap("GET", fileOf("users", owner.id));
    expect(users.body).toContain(`<loc>https://forge.example/${owner.name}</loc>`);
    expect(users.body).not.toContain(limited.name);
    const repos = await withSitemap("GET", fileOf("repos", shown.id));
    expect(repos.body).toContain(`/${owner.name}/${shown.name}</loc>`);
    for (const { name } of [hidden, below]) expect(repos.body).not.toContain(name);
  });

  it("is off by default, and for those who may not read without an account", async () => {
    const { id } = await make.user();
    const closed = doorsWith({ ENABLE_SITEMAP: "true", REQUIRE_SIGNIN_VIEW: "true" });
    for (const path of ["/sitemap.xml", fileOf("users", id), fileOf("repos", 1)]) {
      expect((await visit("GET", path)).status, path).toBe(404);
      expect((await closed("GET", path)).status, path).not.toBe(200);
    }
  });

  it("has no files of other names", async () => {
    for (const path of ["/explore/users/sitemap-0.xml", "/explore/topics/sitemap-1.xml"]) {
      expect((await withSitemap("GET", path)).status, path).toBe(404);
    }
  });
});
