import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { make, type TestUser } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

let reader: TestUser;
let browser: Browser;
beforeAll(async () => {
  reader = await make.userWithPassword();
  browser = await Browser.signedIn(reader);
});

/** A pull request of `org` that adds files, where the base and the head have these owners. */
async function makeOwnedPull(
  owner: TestUser,
  org: Parameters<typeof make.repo>[0],
  owners: string,
  ownersOfHead = owners,
) {
  const repo = await make.repo(org);
  const history = new History();
  const base = history.commit({ files: { "a.txt": "a\n", CODEOWNERS: owners } });
  const files = { "a.txt": "a\n", CODEOWNERS: ownersOfHead, "src/a.go": "a\n", "b.txt": "b\n" };
  const head = history.commit({ files, parents: [base] });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const path = `/${repo.owner}/${repo.name}/pulls`;
  const json = { title: "A topic", head: "topic", base: "main" };
  const { body } = await call("POST", `/repos${path}`, { as: owner, json });
  await drawConsequences();
  return `${path}/${body.number}`;
}

/** The part of a page for a file. */
const partOf = (page: string, path: string): string =>
  new RegExp(`<section class="box diff-file"[^>]*aria-label="${path}"[^]*?</section>`).exec(
    page,
  )?.[0] ?? "";

describe("owners of code", () => {
  it("are named at each changed file, and at whom they are asked", async () => {
    const [owner, go] = [await make.user(), await make.user()];
    const org = await make.org([owner]);
    const team = await make.team(org);
    const text = `.*\\.go @${go.name} @nobody-there\nsrc/.* @${org.name}/${team.name} @other/team\n`;
    const at = await makeOwnedPull(owner, org, text);

    const page = String((await browser.get(`${at}/files`)).body);
    expect(partOf(page, "src/a.go")).toContain(
      `Owned by @${go.name}, @nobody-there, @${org.name}/${team.name}<`,
    );
    expect(partOf(page, "b.txt")).toContain("b.txt");
    expect(partOf(page, "b.txt")).not.toContain("Owned by");

    const conversation = String((await browser.get(at)).body);
    expect(conversation.match(/is asked as an owner of code/g)).toHaveLength(2);
  });

  it("are those of the base, whatever the head says", async () => {
    const [owner, go] = [await make.user(), await make.user()];
    const text = `.*\\.go @${go.name}\n`;
    const at = await makeOwnedPull(owner, owner, text, `.* @${reader.name}\n`);
    const page = String((await browser.get(`${at}/files`)).body);
    expect(page).toContain(`Owned by @${go.name}<`);
    expect(page).not.toContain(`Owned by @${reader.name}`);
  });

  it("are not said to be asked where somebody asks them", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const at = await makeOwnedPull(owner, owner, "");
    const path = `/repos${at}/requested_reviewers`;
    await call("POST", path, { as: owner, json: { reviewers: [other.name] } });
    const conversation = String((await browser.get(at)).body);
    expect(conversation).toContain("is asked");
    expect(conversation).not.toContain("as an owner of code");
  });

  it("takes a file of any content", async () => {
    const owner = await make.user();
    const text = `(a+)+$ @x\n[ @y\n${"a*".repeat(200)} @z\n<b> @"><script>alert(1)</script>\n.*b.txt\t@<i>\n`;
    const at = await makeOwnedPull(owner, owner, text);
    const { status, body } = await browser.get(`${at}/files`);
    expect(status).toBe(200);
    expect(String(body)).toContain("Owned by @&lt;i&gt;<");
  });
});
