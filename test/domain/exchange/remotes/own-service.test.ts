import { describe, expect, it } from "vitest";

import { fetchRemote } from "../../../../src/domain/exchange/remotes/fetch-remote.ts";
import { pushRemote } from "../../../../src/domain/exchange/remotes/push-remote.ts";
import { RemoteRepository } from "../../../../src/domain/exchange/remotes/remote-repository.ts";
import type { Outgoing, StreamedRequest } from "../../../../src/outgoing/outgoing.ts";
import type { OpenOutcome } from "../../../../src/outgoing/streamed-response.ts";
import { readAllObjects } from "../../../support/git.ts";
import { answer } from "../../../support/call.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { contextOf, makeMirror, namedRefs, syncFrom } from "../../../support/mirrors.ts";
import { makeCommit, push } from "../../../support/push.ts";
import { commitsOn, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";

/** Brings requests to the Worker itself, since tests run it without a port. */
function loopback(dropped: readonly string[]): Pick<Outgoing, "open"> {
  return {
    async open(url: string, request: StreamedRequest): Promise<OpenOutcome> {
      const headers = new Headers(request.headers);
      for (const name of dropped) headers.delete(name);
      const { method = "GET", body } = request;
      if (body !== undefined && !(body instanceof Uint8Array)) throw new Error("a large push");
      const response = await answer(new Request(url, { method, headers, body: body ?? null }));
      async function* pieces() {
        yield new Uint8Array(await response.arrayBuffer());
      }
      const { status } = response;
      const end = () => {};
      return { kind: "opened", status, headers: response.headers, url, body: pieces(), end };
    },
  };
}

const LIMITS = { idleMs: 10_000, totalMs: 20_000, refsBytesMax: 1e6, packBytesMax: 1e7 };

const open = (as: TestUser, { owner, name }: TestRepo, dropped: readonly string[]) =>
  new RemoteRepository(
    loopback(dropped) as Outgoing,
    { url: `http://x/${owner}/${name}.git`, username: as.name, password: as.token },
    LIMITS,
  );

describe("this service as a remote", () => {
  it.each([
    ["in version 2", []],
    ["in version 0", ["Git-Protocol"]],
  ])("is mirrored in both directions, %s", async (_version, dropped) => {
    const source = await makeRemote();
    await source.git(["fast-import", "--quiet"], commitsOn("main", 40));
    await source.git(["tag", "-a", "-m", "one", "v1", "main~1"]);
    const { repo: first } = await makeMirror();
    await syncFrom(first, source.url());
    const ctx = systemCtx({}, Date.now());

    // From here to another repository of the service, by a push.
    const { owner, repo: second } = await makeMirror();
    const pushTo = async () =>
      pushRemote(ctx, await contextOf(first), open(owner, second, dropped), { prune: true });
    expect((await pushTo()).refused).toEqual([]);
    expect(await namedRefs(second)).toEqual(await namedRefs(first));

    // And on from there to a third one, by a fetch.
    const { repo: third } = await makeMirror();
    const plan = { prune: true, isFirst: false };
    const syncThird = async () =>
      fetchRemote(ctx, await contextOf(third), open(owner, second, dropped), plan);
    await syncThird();
    expect(await namedRefs(third)).toEqual(await source.refs());

    await source.git(["fast-import", "--quiet"], commitsOn("main", 2, 40, "refs/heads/main^0"));
    await source.git(["tag", "-d", "v1"]);
    await syncFrom(first, source.url());
    expect((await pushTo()).refused).toEqual([]);
    const fetched = await syncThird();
    expect(await namedRefs(third)).toEqual(await source.refs());
    expect(fetched.packBytes).toBeLessThan(5000);
    expect(await readAllObjects(third)).toBe((await source.objects()).length);
  });

  it("does not let in who may not read or push", async () => {
    const { owner, repo } = await makeMirror();
    const { oid, pack } = makeCommit("secret");
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    await push(owner, hidden, oid, pack);
    const stranger = await make.user();
    const ctx = systemCtx({}, Date.now());
    const plan = { prune: true, isFirst: false };
    const remote = open(stranger, hidden, []);
    await expect(fetchRemote(ctx, await contextOf(repo), remote, plan)).rejects.toMatchObject({
      kind: "not_found",
    });
    expect(await namedRefs(repo)).toEqual({});
    const pushed = pushRemote(ctx, await contextOf(hidden), open(stranger, repo, []), plan);
    await expect(pushed.then(({ refused }) => refused)).resolves.toMatchObject([
      { kind: "refused", ref: "refs/heads/main" },
    ]);
    expect(await namedRefs(repo)).toEqual({});
  });
});
