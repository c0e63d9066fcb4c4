import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { freshName, make } from "../../support/make.ts";

describe("GET /admin/emails", () => {
  it("lists the addresses of all accounts in their order, by page", async () => {
    const admin = await make.admin();
    const users = [await make.user(), await make.user()];
    const { status, headers, body } = await call("GET", "/admin/emails?limit=50", { as: admin });
    expect(status).toBe(200);
    const total = Number(headers.get("X-Total-Count"));
    expect(total).toBeGreaterThanOrEqual(users.length + 1);
    const emails = body.map(({ email }: { email: string }) => email.toLowerCase());
    expect(emails).toEqual(emails.toSorted());
    const past = await call("GET", "/admin/emails?page=1000", { as: admin });
    expect(past.body).toEqual([]);
  });

  it("is for administrators", async () => {
    const user = await make.user();
    for (const path of ["/admin/emails", "/admin/emails/search?q=a"]) {
      expect((await call("GET", path)).status).toBe(401);
      expect((await call("GET", path, { as: user })).status).toBe(403);
      const narrow = await make.token(await make.admin(), { scopes: "public-only,all" });
      expect((await call("GET", path, { token: narrow })).status).toBe(403);
    }
  });
});

describe("GET /admin/emails/search", () => {
  const search = async (q: string) =>
    call("GET", `/admin/emails/search?q=${encodeURIComponent(q)}`, { as: await make.admin() });

  it("finds addresses by a part of them, hidden and secondary ones too", async () => {
    const user = await make.user({ isEmailHidden: true });
    const word = freshName("Word");
    const email = `second.${word}@example.org`;
    await call("POST", "/user/emails", { as: user, json: { emails: [email] } });
    const { status, headers, body } = await search(word.toUpperCase());
    expect(status).toBe(200);
    expect(headers.get("X-Total-Count")).toBe("1");
    expect(body).toEqual([
      {
        email,
        verified: expect.any(Boolean),
        primary: false,
        user_id: user.id,
        username: user.name,
      },
    ]);
    await call("DELETE", "/user/emails", { as: user, json: { emails: [email] } });
    expect((await search(word)).body).toEqual([]);
  });

  it("finds all addresses of a user by a part of the user's name", async () => {
    const fullName = freshName("Full Name");
    const user = await make.user({ fullName });
    expect((await search(fullName.slice(2))).body).toMatchObject([
      { email: user.email, primary: true, user_id: user.id },
    ]);
  });

  it("finds by the beginning of an address where the text is short, and takes no text for syntax", async () => {
    const { name, email } = await make.user({ name: freshName("qz") });
    const found = (await search("qz")).body.map((each: { email: string }) => each.email);
    expect(found).toContain(email);
    expect(name.startsWith("qz")).toBe(true);
    for (const text of ['"', "a OR b", "email : x", "%", "a\0b"]) {
      expect((await search(text)).status, text).toBe(200);
    }
  });
});
