import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { packages, users } from "../../src/db/schema/index.ts";
import type { Answer, Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { PUBLISHED, type RegistryRead, SETTINGS } from "../support/published-packages.ts";
import { doorsWith } from "../support/service.ts";
import { type Trace, traced } from "../support/trace.ts";
import { sampleOf } from "../support/sample.ts";

// SECURITY: packages that were published as their clients do it, hidden with their owner or
// repository, are the same as none for everybody else, at every address by which the owner reads
// them.

const serve = doorsWith(SETTINGS);

const send = ({ path, headers = {} }: RegistryRead, sending: Sending): Promise<Answer> =>
  serve("GET", path, { ...sending, headers });

/** Whatever a reader could infer from: the answer, and the work that its time shows. */
async function shownOf(ask: () => Promise<Answer>, owner: string): Promise<Trace> {
  const trace = await traced(ask, [owner]);
  const body = JSON.stringify(trace.body).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  return { ...trace, body };
}

/**
 * Without the tag of an index, which is another one for each owner and query, and without its
 * length, which is that of its time, too.
 */
const withoutTag = ({
  headers: { etag, "content-length": _length, ...headers },
  ...trace
}: Trace) => ({
  ...trace,
  isTagged: etag !== undefined,
  headers,
});

/** An owner with a published package of a format, and the addresses by which it is read. */
async function publishTool(format: string) {
  const made = PUBLISHED[format];
  if (!made) throw new Error(`there is no format ${format}`);
  const owner = await make.user();
  const name = freshName("tool").replaceAll("-", "").toLowerCase();
  const { status, body } = await made.publish(owner, name, "1.0.0");
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return { owner, name, reads: await made.reads(owner, name, "1.0.0") };
}

/** The same address at an owner who has nothing of it. */
const at = (read: RegistryRead, from: string, to: string): RegistryRead => ({
  ...read,
  path: read.path.replace(`/${from}/`, `/${to}/`),
});

/** Who reads nothing of the owner: a usual run sends each request as one of them. */
async function callersOf(stranger: TestUser, owner: TestUser): Promise<[string, Sending][]> {
  const token = await make.token(owner, { scopes: "public-only,all" });
  return [
    ["anonymous", {}],
    ["stranger", { as: stranger }],
    ["a token of the owner for public things", { token }],
  ];
}

const formats = Object.keys(PUBLISHED);

describe("packages of a private owner", () => {
  it.each(formats)("are read by nobody else, by no address: %s", async (format) => {
    const { owner, reads } = await publishTool(format);
    await db.update(users).set({ visibility: "private" }).where(eq(users.id, owner.id));
    const stranger = await make.user();
    const callers = await callersOf(stranger, owner);
    for (const read of reads) {
      expect((await send(read, { as: owner })).status, read.title).toBe(200);
      for (const [caller, sending] of sampleOf(callers, 1, `${format} ${read.title}`)) {
        const shown = await shownOf(() => send(read, sending), owner.name);
        const absent = at(read, owner.name, "nobody-has-this-name");
        const none = await shownOf(() => send(absent, sending), "nobody-has-this-name");
        expect(shown, `${read.title}, ${caller}`).toEqual(none);
        expect(shown, `${read.title}, ${caller}`).not.toMatchObject({ status: 200 });
      }
    }
  });
});

describe("packages that are linked to a private repository", () => {
  it.each(formats)("are read by nobody else, by no address: %s", async (format) => {
    const [{ owner, name, reads }, empty] = [await publishTool(format), await make.user()];
    const repo = await make.repo(owner, { isPrivate: true });
    await db.update(packages).set({ repoId: repo.id }).where(eq(packages.ownerId, owner.id));
    const callers = await callersOf(await make.user(), owner);
    for (const read of reads) {
      expect((await send(read, { as: owner })).status, read.title).toBe(200);
      for (const [caller, sending] of sampleOf(callers, 1, `${format} ${read.title}`)) {
        const absent = at(read, owner.name, empty.name);
        // An index is kept by the first who reads it.
        await send(read, sending);
        await send(absent, sending);
        const shown = await shownOf(() => send(read, sending), owner.name);
        const none = await shownOf(() => send(absent, sending), empty.name);
        // The key of a registry is its owner's, and remains that of the owner's other packages.
        if (read.title === "key") continue;
        expect(withoutTag(shown), `${read.title}, ${caller}`).toEqual(withoutTag(none));
        // Without the name in it, the path is the same: then the read is compared with itself.
        const other = "z".repeat(name.length);
        const unnamed = { ...read, path: read.path.replaceAll(name, other) };
        await send(unnamed, sending);
        const named = await shownOf(() => send(read, sending), name);
        const nothing = await shownOf(() => send(unnamed, sending), other);
        expect(withoutTag(named), `${read.title}, ${caller}`).toEqual(withoutTag(nothing));
        expect(JSON.stringify(shown).replaceAll(name, "")).not.toContain("1.0.0");
      }
    }
  });
});
