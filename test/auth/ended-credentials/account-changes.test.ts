import { describe, expect, it } from "vitest";

import documented from "../../../docs/sign-in.md?raw";
import { Browser } from "../../support/browser.ts";
import {
  type Cell,
  type Change,
  findOutcome,
  type Kind,
  type Outcome,
  removeFactors,
  tableRows,
} from "../../support/credential-cells.ts";
import {
  ACCOUNT,
  mailbox,
  NEW_PASSWORD,
  SECURITY,
  visit,
  type World,
} from "../../support/credentials.ts";
import { sampleOf } from "../../support/sample.ts";

const ownChange = async (world: World) => {
  const { user } = world;
  const fields = { current_password: user.password, password: NEW_PASSWORD, retype: NEW_PASSWORD };
  const browser = await world.browser();
  expect((await browser.submit(ACCOUNT, fields, `${ACCOUNT}/password`)).status).toBe(303);
  user.password = NEW_PASSWORD;
};

const resetByLink = async ({ user }: World) => {
  const browser = new Browser(visit);
  await browser.submit("/user/forgot_password", { email: user.email });
  const fields = { password: NEW_PASSWORD, retype: NEW_PASSWORD };
  const link = mailbox.lastLink(user.email);
  expect((await browser.submit(link, fields, "/user/recover_account")).status).toBe(200);
  user.password = NEW_PASSWORD;
};

const edited = (json: object, undone?: object): Change => ({
  make: async (world) => expect((await world.edit(json)).status).toBe(200),
  ...(undone && { undo: (world) => world.edit(undone) }),
});

const setPassword: Change = {
  make: async (world) => {
    expect((await world.edit({ password: NEW_PASSWORD })).status).toBe(200);
    world.user.password = NEW_PASSWORD;
  },
};

const rename = async ({ user, admin }: World) => {
  const json = { new_username: `${user.name}-renamed` };
  const path = `/api/v1/admin/users/${user.name}/rename`;
  expect((await visit("POST", path, { as: admin, json })).status).toBe(204);
  user.name = json.new_username;
};

const endOthers = async (world: World) => {
  const browser = await world.browser();
  // The page has the button where there are others.
  await world.signIn();
  const ended = await browser.submit(SECURITY, {}, `${SECURITY}/sessions/end_others`);
  expect(ended.status).toBe(303);
};

const addFactor = (world: World) => (world.app ? world.addKey() : world.enrol());

const deleteAccount = async ({ user, admin }: World) => {
  const path = `/api/v1/admin/users/${user.name}?purge=true`;
  expect((await visit("DELETE", path, { as: admin })).status).toBe(204);
};

/** What happens to an account. */
const ACCOUNT_CHANGES = {
  "own new password": { make: ownChange },
  "new password by link": { make: resetByLink },
  "new password by an administrator": setPassword,
  "must change password": edited({ must_change_password: true }, { must_change_password: false }),
  "may not sign in": edited({ prohibit_login: true }, { prohibit_login: false }),
  "switched off": edited({ active: false }, { active: true }),
  renamed: { make: rename },
  "new primary address": {
    make: async (world) => world.edit({ email: `new-${world.user.email}` }),
  },
  "all other sessions ended": { make: endOthers },
  "second factor added": { make: addFactor, undo: removeFactors },
  "second factors removed": { before: (world) => world.enrol(), make: removeFactors },
  deleted: { make: deleteAccount },
} satisfies Record<string, Change>;

const E = "ends";
const R = "rests";
const S = "stays";
const N = "";

/** A row for each credential, a column for each change. */
const ACCOUNT_TABLE: Partial<Record<Kind, readonly Outcome[]>> = {
  "link to choose a new password": [E, E, E, E, E, E, S, E, S, E, E, E],
  "link to confirm an address": [E, E, E, E, E, E, S, S, S, S, S, E],
  "link to unsubscribe": [S, S, S, S, S, S, S, S, S, S, S, S],
  session: [E, E, E, E, E, E, S, S, E, E, E, E],
  "sign-in whose second factor is due": [E, E, E, E, E, E, S, S, E, E, E, E],
  "sign-in whose new password is due": [N, E, E, N, E, E, S, S, N, N, N, E],
  "secret of an app that waits for its first code": [E, E, E, E, E, E, S, S, E, E, N, E],
  // Where a new password is due, the code leads to its page.
  "recovery code": [S, S, S, S, R, R, S, S, S, S, N, E],
  "password, hashed a moment ago": [E, E, E, R, R, R, S, S, S, R, N, E],
  "access token": [S, S, S, R, R, R, S, S, S, S, S, E],
  "code for an application": [E, E, E, E, E, E, S, S, E, E, E, E],
  "access token of an application": [S, S, S, R, R, R, S, S, S, S, S, E],
  "refresh token": [S, S, S, R, R, R, S, S, S, S, S, E],
  "token of a large file, by a password": [E, E, E, R, R, R, S, S, S, R, N, E],
  "token of a large file, by a token": [S, S, S, R, R, R, S, S, S, S, S, E],
  "registry token, by a password": [E, E, E, R, R, R, S, S, S, R, N, E],
  "registry token, by a token": [S, S, S, R, R, R, S, S, S, S, S, E],
};

/** Each credential with a sample of the changes. */
const cells = Object.entries(ACCOUNT_TABLE).flatMap(([kind, outcomes]) => {
  const row = Object.entries<Change>(ACCOUNT_CHANGES).map(([change, by], column): Cell => ({
    kind: kind as Kind,
    change,
    outcome: outcomes[column] ?? "",
    by,
  }));
  return sampleOf(
    row.filter(({ outcome }) => outcome !== ""),
    5,
    kind,
  );
});

describe.each(Object.keys(ACCOUNT_CHANGES))("an account: %s", (name) => {
  it.for(cells.filter(({ change }) => change === name))("$kind $outcome", async (cell) => {
    expect(await findOutcome(cell)).toBe(cell.outcome);
  });
});

it("docs/sign-in.md has the same table", () => {
  const lines = [
    ["", ...Object.keys(ACCOUNT_CHANGES)],
    ...Object.entries(ACCOUNT_TABLE).map(([kind, outcomes]) => [kind].concat(outcomes)),
  ].map((fields) => `| ${fields.join(" | ")} |`.replaceAll(/ +/g, " "));

  expect(tableRows(documented)).toEqual(expect.arrayContaining(lines));
});
