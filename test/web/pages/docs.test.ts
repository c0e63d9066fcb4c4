import { describe, expect, it } from "vitest";

import { visit } from "../../support/call.ts";
import { ALL_PAGES, makeSite, readerOf } from "../../support/doors/pages.ts";

const bodyOf = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path);
  expect(status, path).toBe(200);
  return String(body);
};

/** The addresses to which a page leads within the documents. */
const linksOf = (page: string): string[] =>
  [...page.matchAll(/href="((?:\/docs(?:\/[^"]*)?)|#[^"]+)"/g)].map(([, href = ""]) => href);

describe("/docs", () => {
  it("leads to documents for users and operators, each with its title", async () => {
    const page = await bodyOf("/docs");
    for (const title of ["Administration", "Configuration", "Issues", "npm"]) {
      expect(page).toContain(`>${title}</a>`);
    }
    expect(page).not.toContain("/docs/architecture");
  });

  it("has documents whose links, headings and images are there", async () => {
    const pages = new Map<string, string>();
    const waiting = linksOf(await bodyOf("/docs")).map((href) => href.split("#")[0] ?? "");
    const faults: string[] = [];
    const wanted: [path: string, id: string][] = [];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue;
      const page = await bodyOf(path);
      pages.set(path, page);
      for (const href of linksOf(page)) {
        const [to, id] = href.split("#");
        if (to) waiting.push(to);
        if (id !== undefined && id !== "main") wanted.push([to || path, id]);
      }
    }
    expect(pages.size).toBeGreaterThan(30);
    for (const [path, id] of wanted) {
      if (!pages.get(path)?.includes(` id="${decodeURIComponent(id)}"`))
        faults.push(`${path}#${id}`);
    }
    expect(faults).toEqual([]);
    for (const page of pages.values()) {
      for (const [, src = ""] of page.matchAll(/<img src="(\/-\/docs[^"]+)"/g)) {
        expect((await visit("GET", src)).headers.get("Content-Type")).toBe("image/png");
      }
    }
  });

  it("shows the contents of a document, and nothing that is none", async () => {
    const page = await bodyOf("/docs/administration");
    expect(page).toContain('<a href="#the-schedule">The schedule</a>');
    expect(page).toContain('id="the-schedule"');
    for (const path of ["/docs/nothing", "/docs/index", "/docs/..%2findex", "/docs/a/b"]) {
      expect((await visit("GET", path)).status, path).toBe(404);
    }
  });

  it("has the part to which each page of settings and of the administration leads", async () => {
    const site = await makeSite();
    const led = new Set<string>();
    for (const [title, to] of Object.entries(ALL_PAGES)) {
      if (!/^\/(?:user|-|org\/[^/]+|[^/]+\/[^/]+)\/(?:settings|admin)/.test(to(site))) continue;
      const { body } = await readerOf(site, title).get(to(site));
      const [, path] = /<a href="(\/docs\/[^"]+)">Help about this page/.exec(String(body)) ?? [];
      if (path !== undefined) led.add(path);
    }
    expect(led.size).toBeGreaterThan(25);
    for (const path of led) {
      const [to = "", id] = path.split("#");
      const page = await bodyOf(to);
      expect(page, path).toContain(id === undefined ? "<h1" : ` id="${id}"`);
    }
  });
});
