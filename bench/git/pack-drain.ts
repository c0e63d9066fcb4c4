/**
 * Requests all objects of a repository as `git clone` does, and discards the pack: git's processing
 * of the pack takes longer than sending it, and would dominate the measurement.
 *
 * @param url      URL of the repository.
 * @param wantOids The objects that the client wants: the targets of all refs.
 * @returns The size of the response in bytes.
 * @throws Error if the response is not a complete pack.
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
  // An incomplete response, or an error, does not end in a flush packet.
  if (response.status === 200 && tail.toString() === "0000") return bytes;
  throw new Error(
    `${url}: status ${response.status} with ${bytes} bytes that are no complete pack`,
  );
}

/** @see gitprotocol-common(5), "pkt-line Format". */
const pkt = (line: string): string => `${(line.length + 5).toString(16).padStart(4, "0")}${line}\n`;
