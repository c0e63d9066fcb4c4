import { beforeAll, describe, expect, it } from "vitest";

import { basic, call, type Sending } from "../support/call.ts";
import { GIT_READS, type GitPlace, makeGitPlace } from "../support/doors/git.ts";
import type { TestUser } from "../support/make.ts";
import { logged } from "../support/usage.ts";

/** How clients of git send who they are. */
const CALLERS: Readonly<Record<string, (owner: TestUser) => Sending>> = {
  nobody: () => ({}),
  "a token": ({ token }) => ({ token }),
  "a token as a password": ({ name, token }) => ({ headers: basic(name, token) }),
  "a password": ({ name, password }) => ({ headers: basic(name, password) }),
};

const cases = Object.entries(GIT_READS).flatMap(([name, read]) =>
  Object.entries(CALLERS).map(([caller, toSending]) => [name, caller, read, toSending] as const),
);

let places: readonly [GitPlace, GitPlace];
beforeAll(async () => {
  places = [await makeGitPlace(), await makeGitPlace()];
});

describe("the SQL of a request of git", () => {
  it.each(cases)("is built once and bound for other rows: %s by %s", async (...each) => {
    const [, , read, toSending] = each;
    const lines = [];
    for (const place of places) {
      const sending = toSending(place.owner);
      // A password is hashed and recorded once.
      await call("GET", "/version", sending);
      const { line } = await logged(() => read(place, sending));
      lines.push(line);
    }
    const [, second] = lines;
    // Only who writes a large file, or locks, must sign in.
    expect([200, 401]).toContain(second?.status);
    expect(second?.sqlBuilds).toBe(0);
  });

  it("is of requests that a signed-in user may make", async () => {
    for (const read of Object.values(GIT_READS)) {
      const { status } = await read(places[0], { token: places[0].owner.token });
      expect(status).toBe(200);
    }
  });
});
