import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, visit } from "../../support/call.ts";
import { make } from "../../support/make.ts";
import {
  clientFields,
  makeApplication,
  makeTokens,
  postForm,
  type TestApplication,
} from "../../support/oauth.ts";
import { logged } from "../../support/usage.ts";

// As test/api/prepared.test.ts: what the first request of a read has built, later ones bind.

/** What a user granted an application. */
interface Granted {
  readonly application: TestApplication;
  readonly access: string;
  readonly refresh: string;
}

async function makeGranted(): Promise<Granted> {
  const user = await make.user();
  const application = await makeApplication(user);
  const scope = "openid profile email groups";
  return { application, ...(await makeTokens(user, application, { scope })) };
}

const introspect = ({ application }: Granted, token: string): Promise<Answer> =>
  postForm("introspect", { token, ...clientFields(application) });

const READS: Readonly<Record<string, (granted: Granted) => Promise<Answer>>> = {
  userinfo: ({ access }) =>
    visit("GET", "/login/oauth/userinfo", { headers: { Authorization: `Bearer ${access}` } }),
  "introspection of an access token": (granted) => introspect(granted, granted.access),
  "introspection of a refresh token": (granted) => introspect(granted, granted.refresh),
};

describe("the SQL of reads of the provider", () => {
  let first: Granted;
  let second: Granted;

  beforeAll(async () => {
    [first, second] = [await makeGranted(), await makeGranted()];
  });

  it.each(Object.entries(READS))("is built once and bound for others: %s", async (_, read) => {
    expect((await read(first)).status).toBe(200);
    const { answer, line } = await logged(() => read(second));
    expect(answer.status).toBe(200);
    expect(line.sqlBuilds).toBe(0);
  });
});
