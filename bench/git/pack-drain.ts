/**
 * Asks for all objects of a repository as `git clone` does, and lets the pack go: what git makes of
 * a pack takes longer than sending it, and would be what is measured.
 *
 * @param url      Address of the repository.
 * @param wantOids What the clone wants: the targets of all refs.
 * @returns Bytes of the answer.
 * @throws Error for another answer than a pack that is whole.
 */
export async function drainPack(url: string, wantOids: Iterable<string>): Promise<number> {
  const lines = ["ofs-delta", "no-progress", ...[...wantOids].map((oid) => `want ${oid}`), "done"];
  const body = `${pkt("command=fetch")}0001${lines.map(pkt).join("")}0000`;
  const response = await fetch(`${url}/git-upload-pack`, {
    method: "POST",
    headers: {
      "content-type": "application/x-git-upload-pack-request",
      "git-protocol": "version=2",
    },
    body,
  });
  let bytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk.subarray(-4)]).subarray(-4);
  }
  // An answer that broke off, or tells of an error, ends in something else than a flush.
  if (response.status === 200 && tail.toString() === "0000") return bytes;
  throw new Error(`${url} answered ${response.status} with ${bytes} bytes, which are no pack`);
}

/** @see gitprotocol-common(5), "pkt-line Format". */
const pkt = (line: string): string => `${(line.length + 5).toString(16).padStart(4, "0")}${line}\n`;
