import { inject } from "vitest";

import { type ByteText, decodeText, encodeUtf8 } from "../../src/git/byte-text.ts";
import { formatBase64 } from "../../src/lib/base64.ts";
import { isRefused, parseRemoteAddress } from "../../src/domain/exchange/remotes/remote-address.ts";
import { remoteLimitsOf } from "../../src/domain/exchange/remotes/remote-limits.ts";
import { RemoteRepository } from "../../src/domain/exchange/remotes/remote-repository.ts";
import type { RemoteLimits } from "../../src/domain/exchange/remotes/smart-http.ts";
import type { Ctx } from "../../src/context.ts";
import type { LfsFiles } from "./fake-lfs-server.ts";
import { freshName } from "./make.ts";
import type { RemoteRequest, ScriptedAnswer } from "./start-remotes.ts";

const [origin] = inject("remotes");

/** Shorter than a test may take. */
const TIMES: Partial<RemoteLimits> = { idleMs: 10_000, totalMs: 25_000 };

/** A bare repository behind `git http-backend`, outside of the Worker. */
export class GitRemote {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Its address behind one of the doors of start-remotes.ts. */
  url(door = "git"): string {
    return `${origin}/${door}/${this.name}`;
  }

  /** Runs git in it. @throws Error if git fails. */
  async git(args: readonly string[], input = ""): Promise<string> {
    const { code, output, errors } = await this.control<{
      code: number;
      output: string;
      errors: string;
    }>("git", { args, input: formatBase64(encodeUtf8(input)) });
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${errors}`);
    return decodeText(output.trimEnd() as ByteText);
  }

  /** The requests that it got since the last call. */
  journal(): Promise<RemoteRequest[]> {
    return this.control("journal", {});
  }

  /** Sets its large files. */
  async lfs(files: LfsFiles): Promise<void> {
    await this.control("lfs", files);
  }

  /** Refs by name. */
  async refs(): Promise<Record<string, string>> {
    const lines = await this.git(["for-each-ref", "--format=%(refname) %(objectname)"]);
    return Object.fromEntries(lines.split("\n").flatMap((line) => (line ? [line.split(" ")] : [])));
  }

  head(): Promise<string> {
    return this.git(["symbolic-ref", "HEAD"]);
  }

  /** The ids of all objects that its refs reach. */
  async objects(): Promise<string[]> {
    const lines = await this.git(["rev-list", "--objects", "--no-object-names", "--all"]);
    return lines.split("\n").toSorted();
  }

  protected async control<T>(verb: string, body: object): Promise<T> {
    const response = await fetch(`${origin}/control/${this.name}/${verb}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return (await response.json()) as T;
  }
}

/** An empty bare repository that takes pushes. */
export async function makeRemote(): Promise<GitRemote> {
  const remote = new GitRemote(`${freshName("remote")}.git`);
  await remote.git(["init", "--quiet", "--bare", "--initial-branch=main", remote.name]);
  await remote.git(["config", "http.receivepack", "true"]);
  return remote;
}

/** A stream of `git fast-import` of commits in a row, each with a file of its own. */
export function commitsOn(branch: string, count: number, start = 0, from?: string): string {
  let stream = "";
  for (let at = start; at < start + count; at++) {
    const message = `${branch} ${at}`;
    const text = `content ${at} of ${branch}\n${"line\n".repeat(at % 7)}`;
    const parent = at === start && from !== undefined ? `from ${from}\n` : "";
    stream += `commit refs/heads/${branch}
author A <a@example.com> ${1_600_000_000 + at} +0000
committer C <c@example.com> ${1_600_000_000 + at} +0000
data ${message.length}
${message}
${parent}M 100644 inline dir${at % 3}/file-${at % 11}.txt
data ${text.length}
${text}
`;
  }
  return stream;
}

/**
 * Answers prepared for requests, by `refs`, `ls-refs`, `fetch`, `git-upload-pack` or
 * `git-receive-pack`.
 */
export async function makeScripted(
  script: Record<
    string,
    Omit<ScriptedAnswer, "body" | "repeated"> & { body?: Uint8Array; repeated?: Uint8Array }
  >,
): Promise<GitRemote> {
  const remote = new GitRemote(freshName("scripted"));
  const entries = Object.entries(script).map(([step, { body, repeated, ...answer }]) => [
    step,
    {
      ...answer,
      ...(body && { body: formatBase64(body) }),
      ...(repeated && { repeated: formatBase64(repeated) }),
    },
  ]);
  await fetch(`${origin}/control/${remote.name}/script`, {
    method: "POST",
    body: JSON.stringify(Object.fromEntries(entries)),
  });
  return remote;
}

/** A client of an address. */
export function openRemote(
  { config, outgoing }: Pick<Ctx, "config" | "outgoing">,
  url: string,
  limits: Partial<RemoteLimits> = {},
): RemoteRepository {
  const address = parseRemoteAddress(url);
  if (isRefused(address)) throw new Error(`${url} is refused: ${address.refusal}`);
  return new RemoteRepository(outgoing, address, {
    ...remoteLimitsOf(config),
    ...TIMES,
    ...limits,
  });
}
