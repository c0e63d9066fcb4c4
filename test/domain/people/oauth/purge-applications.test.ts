import { inArray, isNotNull } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { oauthApplications, type OauthApplication } from "../../../../src/db/schema/index.ts";
import {
  purgeApplications,
  UNGRANTED_LIFE_MS,
} from "../../../../src/domain/people/oauth/purge-applications.ts";
import { db } from "../../../support/db.ts";
import { make } from "../../../support/make.ts";
import { makeApplication, makeCodeFor } from "../../../support/oauth.ts";
import { systemCtx } from "../../../support/system.ts";

const NOW = 2_000_000_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const makeClient = (expiresAt: number | null, fields: Partial<OauthApplication> = {}) =>
  makeApplication({ id: null }, { registration: "dynamic", expiresAt, ...fields });

const left = async (...clients: readonly OauthApplication[]) => {
  const ids = clients.map(({ id }) => id);
  const rows = await db.select().from(oauthApplications).where(inArray(oauthApplications.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
};

beforeEach(async () => {
  await db.delete(oauthApplications).where(isNotNull(oauthApplications.expiresAt));
});

describe("purgeApplications", () => {
  it("removes clients that nobody grants anything, once they expire, and no others", async () => {
    const user = await make.user();
    const own = await makeApplication(user);
    const expired = await makeClient(NOW);
    const document = await makeClient(NOW - 1, { registration: "document" });
    const later = await makeClient(NOW + 1);
    const granted = await makeClient(NOW - 1);
    await makeCodeFor(user, granted, { now: NOW });

    await purgeApplications(systemCtx({}, NOW));

    const rows = await left(own, expired, document, later, granted);
    expect([...rows.keys()].toSorted((a, b) => a - b)).toEqual([own.id, later.id, granted.id]);
    expect(rows.get(own.id)?.expiresAt).toBeNull();
    expect(rows.get(later.id)?.expiresAt).toBe(NOW + 1);
    // It is looked at again.
    expect(rows.get(granted.id)?.expiresAt).toBe(NOW + 30 * DAY_MS);
  });

  it("keeps a number of those without a grant, the newest", async () => {
    const user = await make.user();
    const end = NOW + UNGRANTED_LIFE_MS;
    const oldest = await makeClient(end - 4);
    const granted = await makeClient(end - 3);
    await makeCodeFor(user, granted, { now: NOW });
    const [older, newer, newest] = [
      await makeClient(end - 2),
      await makeClient(end - 1),
      await makeClient(end),
    ];
    const longGranted = await makeClient(NOW + 30 * DAY_MS);

    await purgeApplications(systemCtx({}, NOW), 2);

    const rows = await left(oldest, granted, older, newer, newest, longGranted);
    expect([...rows.keys()]).toEqual([granted, newer, newest, longGranted].map(({ id }) => id));
  });
});
