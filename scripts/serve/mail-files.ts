import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { json } from "node:stream/consumers";

import { type HostService, openHostService } from "./host-service.ts";

/** A mail as the Worker sends it: see src/outgoing/mailer.ts. */
type Mail = {
  from: string;
  to: string;
  subject: string;
  text: string;
  html?: string;
  thread?: { rootId: string; messageId: string };
  headers?: Record<string, string>;
};

/**
 * Receives mails from the Worker's binding for mail on one machine: stores each as a file in
 * `mail` below the state, readable by its owner only, for a program that sends it on.
 *
 * @param path The socket at which it listens.
 */
export const receiveMails = (path: string, data: string): Promise<HostService> =>
  openHostService(path, (request, response) => {
    json(request)
      .then((mail) => store(mail as Mail, join(data, "mail")))
      .then(
        () => response.writeHead(204).end(),
        (error: unknown) => {
          console.error("a mail can't be stored:", error);
          response.writeHead(500).end();
        },
      );
  });

async function store(mail: Mail, directory: string): Promise<void> {
  const at = new Date();
  const id = randomUUID();
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${at.toISOString().replaceAll(":", "")}-${id.slice(0, 8)}.eml`);
  // Written whole before it has its name: another program may be waiting for it.
  await writeFile(`${path}.part`, formatMail(mail, at, id), { mode: 0o600, flag: "wx" });
  await rename(`${path}.part`, path);
}

/**
 * A mail as text.
 *
 * @see RFC 5322, RFC 6532 (headers in UTF-8), RFC 2046 (alternatives)
 */
export function formatMail(mail: Mail, at: Date, id: string): string {
  const { from, to, subject, text, html, thread, headers = {} } = mail;
  const isFirst = thread?.rootId === thread?.messageId;
  const all = {
    Date: at.toUTCString().replace("GMT", "+0000"),
    "Message-ID": thread?.messageId ?? `<${id}@edgeforge>`,
    ...(thread && !isFirst && { "In-Reply-To": thread.rootId, References: thread.rootId }),
    From: from,
    To: to,
    Subject: subject,
    ...headers,
    "MIME-Version": "1.0",
  };
  // SECURITY: a line break would end the header, and what follows it would be another one.
  const lines = Object.entries(all).map(
    ([name, value]) => `${name}: ${value.replaceAll(/[\r\n]+/g, " ")}`,
  );
  const plain = part("text/plain", text);
  if (html === undefined) return [...lines, ...plain].join("\n");
  const boundary = `part-${id}`;
  return [
    ...lines,
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    ...plain,
    `--${boundary}`,
    ...part("text/html", html),
    `--${boundary}--`,
    "",
  ].join("\n");
}

const part = (type: string, content: string): string[] => [
  `Content-Type: ${type}; charset=utf-8`,
  "Content-Transfer-Encoding: 8bit",
  "",
  content,
];
