/** A mail, in plain text and maybe also in HTML. */
export interface Mail {
  from: string;
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** The ids by which clients show mails about one thing together, in angle brackets. */
  thread?: MailThread;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
}

interface MailThread {
  /** The id of the first mail of the thread, which may have had other readers. */
  readonly rootId: string;
  /** The id of this mail. */
  readonly messageId: string;
}

/**
 * The bindings by which mail leaves: the platform's, or a service of the machine that stores it in
 * files.
 */
export interface MailBindings {
  MAIL?: Pick<SendEmail, "send">;
  MAIL_FILES?: Pick<Fetcher, "fetch">;
}

/** Sends mail, and knows whether a request has queued any. */
export class Mailer {
  readonly #bindings: MailBindings;
  #isSendingDue = false;

  constructor({ MAIL, MAIL_FILES }: MailBindings) {
    this.#bindings = { ...(MAIL && { MAIL }), ...(MAIL_FILES && { MAIL_FILES }) };
  }

  /** Notes that a mail is being queued in this context; its opener sends it after it is stored. */
  noteQueued(): void {
    this.#isSendingDue = true;
  }

  /** Whether mails were queued since the last call. */
  takeQueued(): boolean {
    const isDue = this.#isSendingDue;
    this.#isSendingDue = false;
    return isDue;
  }

  /** @throws Error if the mail was not accepted. */
  async send(mail: Mail): Promise<void> {
    const { MAIL, MAIL_FILES } = this.#bindings;
    if (MAIL) {
      await MAIL.send(toPlatformMail(mail));
      return;
    }
    if (!MAIL_FILES) throw new Error("the service has no binding that sends mail");
    const body = JSON.stringify(mail);
    const { ok, status } = await MAIL_FILES.fetch("http://mail/", { method: "POST", body });
    if (!ok) throw new Error(`mail was refused with ${status}`);
  }
}

/**
 * The mail as the platform takes it. The platform gives each mail an id of its own and refuses
 * others, so that all mails of a thread, the first one too, refer to an id that none of them has.
 *
 * @see https://developers.cloudflare.com/email-service/reference/headers/
 */
function toPlatformMail({ thread, headers, ...mail }: Mail) {
  const references = thread && { "In-Reply-To": thread.rootId, References: thread.rootId };
  const all = { ...references, ...headers };
  return Object.keys(all).length === 0 ? mail : { ...mail, headers: all };
}
