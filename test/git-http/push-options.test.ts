import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../src/db/schema/index.ts";
import { db } from "../support/db.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo } from "../support/make.ts";
import { makeCommit, pushCommands } from "../support/push.ts";

const rowOf = async (repo: TestRepo) =>
  (await db.select().from(repositories).where(eq(repositories.id, repo.id)))[0];

describe("push options", () => {
  it("set visibility and template flag for administrators", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("options");
    const capabilities = "side-band-64k push-options";
    const options = ["repo.private=0", "repo.private=true", "repo.template=T", "ci.skip", "x=y"];
    const commands = [{ ref: "refs/heads/main", new: oid }];
    const { body } = await pushCommands(owner, repo, commands, { pack, capabilities, options });
    expect(body).toContain("ok refs/heads/main");
    expect(await rowOf(repo)).toMatchObject({
      isPrivate: true,
      visibility: "private",
      isTemplate: true,
    });
    const types = (await eventsOf(repo)).map(({ type }) => type);
    expect(types).toContain("repository.visibility_changed");
  });

  // SECURITY: otherwise a push would publish objects that a fork shares with a private repository.
  it("do not make a fork of a private repository public", async () => {
    const parent = await make.repo(await make.user(), { isPrivate: true });
    const forker = await make.user();
    const fork = await make.repo(forker, { parentId: parent.id, isFork: true, isPrivate: true });
    const { oid, pack } = makeCommit("fork");
    const capabilities = "side-band-64k push-options";
    const commands = [{ ref: "refs/heads/main", new: oid }];
    const options = ["repo.private=false"];
    const { body } = await pushCommands(forker, fork, commands, { pack, capabilities, options });
    expect(body).toContain("ok refs/heads/main");
    expect(await rowOf(fork)).toMatchObject({ isPrivate: true, visibility: "private" });
  });

  it.each([
    ["are not applied for a collaborator with write access", ACCESS.write, false],
    ["are applied for a collaborator with admin access", ACCESS.admin, true],
  ])("%s", async (_, access, isSet) => {
    const owner = await make.user();
    const writer = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    await make.collaborator(repo, writer, access);
    const { oid, pack } = makeCommit("by whom");
    const capabilities = "side-band-64k push-options";
    const commands = [{ ref: "refs/heads/main", new: oid }];
    const options = ["repo.private=false"];
    const { body } = await pushCommands(writer, repo, commands, { pack, capabilities, options });
    expect(body).toContain("ok refs/heads/main");
    expect(body.includes("push options were not applied: only its administrators")).toBe(!isSet);
    expect(await rowOf(repo)).toMatchObject({ isPrivate: !isSet });
  });

  it("have no effect if no ref is updated, or a value is not a boolean", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("nothing");
    const capabilities = "push-options";
    const send = (ref: string, options: string[]) =>
      pushCommands(owner, repo, [{ ref, new: oid }], { pack, capabilities, options });
    await send("refs/pull/1/head", ["repo.private=true"]);
    await send("refs/heads/main", ["repo.private", "repo.private=yes", "repo.template="]);
    expect(await rowOf(repo)).toMatchObject({ isPrivate: false, isTemplate: false });
  });
});
