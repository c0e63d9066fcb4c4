import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A mail as the Worker sends it: see src/outgoing/mailer.ts. */
type Mail = { from: string; to: string; subject: string; text: string };

/**
 * The Worker's binding for mail on one machine: stores each mail as a file in `mail` below the state, readable by its
 * owner only, for a program that sends it on.
 *
 * @see RFC 5322, RFC 6532 (headers in UTF-8)
 */
export function openMailFiles(data: string): (request: Request) => Promise<Response> {
  const directory = join(data, "mail");
  return async (request) => {
    const { from, to, subject, text } = (await request.json()) as Mail;
    const at = new Date();
    const id = randomUUID();
    const content = [
      `Date: ${at.toUTCString().replace("GMT", "+0000")}`,
      `Message-ID: <${id}@edgeforge>`,
      `From: ${from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: 8bit",
      "",
      text,
    ].join("\n");
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${at.toISOString().replaceAll(":", "")}-${id.slice(0, 8)}.eml`);
    // Written whole before it has its name: another program may be waiting for it.
    await writeFile(`${path}.part`, content, { mode: 0o600, flag: "wx" });
    await rename(`${path}.part`, path);
    return new Response(null, { status: 204 });
  };
}
