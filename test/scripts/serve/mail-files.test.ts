import { describe, expect, it } from "vitest";

import { formatMail } from "../../../scripts/serve/mail-files.ts";

const AT = new Date("2026-01-31T08:15:00Z");
const MAIL = { from: "forge@example.org", to: "a@example.org", subject: "a", text: "hello" };

describe("a mail in a file", () => {
  it("is plain text with an id of its own", () => {
    expect(formatMail(MAIL, AT, "id-1")).toBe(
      `Date: Sat, 31 Jan 2026 08:15:00 +0000
Message-ID: <id-1@edgeforge>
From: forge@example.org
To: a@example.org
Subject: a
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

hello`,
    );
  });

  it("has text and HTML as alternatives, and refers to the first mail of its thread", () => {
    const thread = { rootId: "<1@forge>", messageId: "<1/2@forge>" };
    const headers = { "List-Unsubscribe": "<https://forge.example/u>" };
    const mail = formatMail({ ...MAIL, html: "<p>hello</p>", thread, headers }, AT, "id-1");
    expect(mail).toContain(
      "Message-ID: <1/2@forge>\nIn-Reply-To: <1@forge>\nReferences: <1@forge>",
    );
    expect(mail).toContain("List-Unsubscribe: <https://forge.example/u>\n");
    expect(mail).toContain('multipart/alternative; boundary="part-id-1"\n\n--part-id-1\n');
    expect(mail).toMatch(
      /text\/plain[\s\S]*\n\nhello\n--part-id-1\n[\s\S]*text\/html[\s\S]*<p>hello<\/p>\n--part-id-1--\n$/,
    );
    const first = formatMail({ ...MAIL, thread: { ...thread, messageId: "<1@forge>" } }, AT, "x");
    expect(first).toContain("Message-ID: <1@forge>");
    expect(first).not.toContain("References");
  });

  // SECURITY: a subject with a line break would add headers, such as further recipients.
  it("has each header in one line", () => {
    const mail = formatMail({ ...MAIL, subject: "a\r\nBcc: all@example.org" }, AT, "id-1");
    expect(mail).toContain("\nSubject: a Bcc: all@example.org\n");
  });
});
