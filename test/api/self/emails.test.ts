import { describe, expect, it } from "vitest";

import { basic, call } from "../../support/call.ts";
import { eventsIn } from "../../support/events.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { statusesOf } from "../../support/statuses.ts";

const freshEmail = (): string => `${freshName("Mail")}@Example.com`;

async function addressesOf(user: TestUser): Promise<string[]> {
  const answer = await call("GET", "/user/emails", { as: user });
  return answer.body.map(({ email }: { email: string }) => email);
}

/** Adds addresses and checks that this succeeded. */
async function add(user: TestUser, ...emails: string[]): Promise<void> {
  const answer = await call("POST", "/user/emails", { as: user, json: { emails } });
  expect(answer.status).toBe(201);
}

describe("GET /user/emails", () => {
  it("lists the primary address first, then the others in the order of addition", async () => {
    const user = await make.user();
    const [first, second] = [freshEmail(), freshEmail()];
    await add(user, first);
    await add(user, second);

    const answer = await call("GET", "/user/emails", { as: user });

    expect(answer).toMatchObject({
      status: 200,
      body: [
        { email: user.email, primary: true, verified: true },
        { email: first, primary: false, verified: true },
        { email: second, primary: false, verified: true },
      ],
    });
    expect(answer.headers.get("X-Total-Count")).toBe("3");
  });

  it("asks anonymous callers to sign in", async () => {
    expect((await call("GET", "/user/emails")).status).toBe(401);
  });

  // SECURITY: email addresses are not public.
  it("lists no address for a public-only token", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "public-only,all" });

    const listed = await call("GET", "/user/emails", { token });
    const added = await call("POST", "/user/emails", { token, json: { emails: [freshEmail()] } });

    expect([listed.status, added.status]).toEqual([403, 403]);
    expect(await addressesOf(user)).toEqual([user.email]);
    expect(await eventsIn(user)).toEqual([]);
  });
});

describe("POST /user/emails", () => {
  it("adds several addresses in one request and returns all of them", async () => {
    const user = await make.user();
    const emails = [freshEmail(), freshEmail()];

    const answer = await call("POST", "/user/emails", { as: user, json: { emails } });

    expect(answer.status).toBe(201);
    expect(answer.body.map(({ email }: { email: string }) => email)).toEqual([
      user.email,
      ...emails,
    ]);
    expect(await eventsIn(user)).toMatchObject([{ type: "email.added", actorId: user.id }]);
  });

  // A statement binds at most 100 values: the maximum number of addresses in a request must fit.
  it("adds the maximum number of addresses of a request", async () => {
    const user = await make.user();
    const emails = Array.from({ length: 20 }, freshEmail);

    expect((await call("POST", "/user/emails", { as: user, json: { emails } })).status).toBe(201);
    expect(await addressesOf(user)).toHaveLength(21);
  });

  it("lets the user sign in with a secondary address in any case", async () => {
    const user = await make.userWithPassword();
    const email = freshEmail();
    await add(user, email);

    const headers = basic(email.toUpperCase(), user.password);

    expect(await call("GET", "/user", { headers })).toMatchObject({
      status: 200,
      body: { id: user.id },
    });
  });

  it.each([
    ["no address", [], "[emails]: must not be empty"],
    [
      "something that is no address",
      [freshEmail(), "ada"],
      "[emails.1]: must be an e-mail address",
    ],
    [
      "an address with a line break",
      ["a@b.example\r\nBcc: c@d.example"],
      "[emails.0]: must be an e-mail address",
    ],
    [
      "an address that is too long",
      [`${"x".repeat(250)}@b.example`],
      expect.stringMatching(/must have at most 254/),
    ],
    ["too many", Array.from({ length: 21 }, freshEmail), "[emails]: must have at most 20 items"],
    ["the same one twice", ["Twice@example.com", "twice@example.com"], "e-mail already in use"],
  ])("refuses %s, and adds nothing", async (_, emails, message) => {
    const user = await make.user();

    const answer = await call("POST", "/user/emails", { as: user, json: { emails } });

    expect(answer).toMatchObject({ status: 422, body: { message } });
    expect(await addressesOf(user)).toEqual([user.email]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("refuses another user's address in any case, and adds nothing", async () => {
    const [user, other] = [await make.user(), await make.user()];

    const emails = [freshEmail(), other.email.toUpperCase()];
    const answer = await call("POST", "/user/emails", { as: user, json: { emails } });

    expect(answer).toMatchObject({ status: 422, body: { message: "e-mail already in use" } });
    expect(await addressesOf(user)).toEqual([user.email]);
    expect(await eventsIn(user)).toEqual([]);
  });

  it("gives an address to one user for concurrent requests", async () => {
    const everybody = await Promise.all([make.user(), make.user(), make.user()]);
    const emails = [freshEmail()];

    const answers = await Promise.all(
      everybody.map((user) => call("POST", "/user/emails", { as: user, json: { emails } })),
    );

    expect(statusesOf(answers)).toEqual([201, 422, 422]);
  });
});

describe("DELETE /user/emails", () => {
  it("removes addresses in any case", async () => {
    const user = await make.user();
    const [first, second, kept] = [freshEmail(), freshEmail(), freshEmail()];
    await add(user, first, second, kept);

    const emails = [first.toLowerCase(), second.toUpperCase()];
    const answer = await call("DELETE", "/user/emails", { as: user, json: { emails } });

    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(await addressesOf(user)).toEqual([user.email, kept]);
    expect(await eventsIn(user)).toMatchObject([
      { type: "email.added" },
      { type: "email.removed" },
    ]);
  });

  it("refuses to remove the primary address, and removes nothing", async () => {
    const user = await make.user();
    const email = freshEmail();
    await add(user, email);

    const emails = [email, user.email];
    const answer = await call("DELETE", "/user/emails", { as: user, json: { emails } });

    expect(answer.status).toBe(422);
    expect(await addressesOf(user)).toEqual([user.email, email]);
    expect(await eventsIn(user)).toHaveLength(1);
  });

  it("does not find another user's address, and removes nothing", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const [own, foreign] = [freshEmail(), freshEmail()];
    await add(user, own);
    await add(other, foreign);

    const emails = [own, foreign];
    const answer = await call("DELETE", "/user/emails", { as: user, json: { emails } });

    expect(answer).toMatchObject({ status: 404, body: "" });
    expect(await addressesOf(user)).toEqual([user.email, own]);
    expect(await addressesOf(other)).toEqual([other.email, foreign]);
    expect(await eventsIn(user)).toHaveLength(1);
  });
});
