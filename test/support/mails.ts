import { doorsWith } from "./service.ts";
import { SEALING_KEYS } from "./sealing.ts";

/** A mail that the service sent. */
export interface SentMail {
  from: string;
  to: string;
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
}

/** Settings of a service that sends mail. */
export const MAIL_SETTINGS = { SEALING_KEYS, MAIL_FROM: "forge@example.org" };

/** A binding like the platform's, which keeps mails instead of sending them. */
export class Mailbox {
  readonly mails: SentMail[] = [];
  /** Whether mails are refused. */
  isBroken = false;

  readonly send = async (mail: SentMail): Promise<{ messageId: string }> => {
    if (this.isBroken) throw new Error("the mailbox is broken");
    this.mails.push(mail);
    return { messageId: String(this.mails.length) };
  };

  /** Mails to an address, oldest first. */
  to(address: string): SentMail[] {
    return this.mails.filter((mail) => mail.to === address);
  }

  /** The path of the link in the last mail to an address. */
  lastLink(address: string): string {
    const text = this.to(address).at(-1)?.text ?? "";
    return /https:\/\/forge\.example(\/\S+)/.exec(text)?.[1] ?? "";
  }
}

/** A service that sends mail into a mailbox. */
export function serviceWithMail(settings: Record<string, string> = {}) {
  const mailbox = new Mailbox();
  const visit = doorsWith({ ...MAIL_SETTINGS, ...settings }, { MAIL: mailbox });
  return { mailbox, visit };
}
