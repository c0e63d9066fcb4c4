import { beforeAll, describe, expect, it } from "vitest";

import { call, visit } from "../support/call.ts";
import { freshName, make, type TestUser } from "../support/make.ts";

// SECURITY: a script in a document of the service's own origin acts as the reader who opens it.

const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(document.domain)</script></svg>`;

let owner: TestUser;
let path: string;

async function makeFiles(): Promise<void> {
  owner = await make.user();
  const name = freshName("pictures");
  const json = { name, auto_init: true };
  expect((await call("POST", "/user/repos", { as: owner, json })).status).toBe(201);
  path = `/repos/${owner.name}/${name}`;
  const content = btoa(SVG);
  for (const file of ["a.svg", "A.SVG", "a.html", "a.xml"]) {
    const sending = { as: owner, json: { content } };
    expect((await call("POST", `${path}/contents/${file}`, sending)).status).toBe(201);
  }
}
beforeAll(makeFiles);

const upload = (file: string): FormData => {
  const form = new FormData();
  form.append("attachment", new File([SVG], file));
  return form;
};

async function attach(to: string, file: string): Promise<string> {
  const { status, body } = await call("POST", `${to}/assets`, { as: owner, body: upload(file) });
  expect(status, JSON.stringify(body)).toBe(201);
  return new URL(body.browser_download_url as string).pathname;
}

/** Stores a file, and returns the path at which anybody opens it. */
const PLACES: Readonly<Record<string, (file: string) => Promise<string>>> = {
  "a raw file": async (file) => `/api/v1${path}/raw/${file}`,
  "a media file": async (file) => `/api/v1${path}/media/${file}`,
  "a file of a package": async (file) => {
    const at = `/api/packages/${owner.name}/generic/${freshName("art")}/1/${file}`;
    expect((await visit("PUT", at, { as: owner, body: SVG })).status).toBe(201);
    return at;
  },
  "a file of an issue": async (file) => {
    const { body } = await call("POST", `${path}/issues`, { as: owner, json: { title: "Art" } });
    return attach(`${path}/issues/${body.number}`, file);
  },
  "a file of a release": async (file) => {
    const json = { tag_name: freshName("v") };
    const { body } = await call("POST", `${path}/releases`, { as: owner, json });
    return attach(`${path}/releases/${body.id}`, file);
  },
};

describe.each(Object.entries(PLACES))("%s with a script", (place, store) => {
  const files = place === "a file of an issue" ? ["a.svg"] : ["a.svg", "A.SVG", "a.html", "a.xml"];
  it.each(files)("is saved or shown as text, never run: %s", async (file) => {
    const { status, headers, body } = await visit("GET", await store(file));
    expect({ status, body }).toEqual({ status: 200, body: SVG });
    expect(headers.get("Content-Security-Policy")).toMatch(/(?:^|; )sandbox(?:;|$)/);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    const type = headers.get("Content-Type") ?? "";
    const isSaved = headers.get("Content-Disposition")?.startsWith("attachment") === true;
    const shown = isSaved ? "saved" : type;
    expect(shown).toMatch(/^(?:saved|text\/plain; charset=utf-8)$/);
    expect(type).not.toMatch(/html/);
  });
});
