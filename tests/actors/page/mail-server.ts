/** The mail server of the examples in docs/sandboxes.md, in memory. It keeps a user's mail until it may forget it. */
export interface Mail {
  readonly id: string
  readonly text: string
}

export interface MailConnection {
  fetch(signal: AbortSignal): Promise<readonly Mail[]>
  /** Refuses a token lower than one that it has seen. */
  forget(mails: readonly Mail[], options: { readonly token: number; readonly signal: AbortSignal }): Promise<void>
  close(): Promise<void>
}

const kept = new Map<string, Mail[]>()
const tokens = new Map<string, number>()

export function deliver(user: string, mail: Mail): void {
  kept.set(user, [...(kept.get(user) ?? []), mail])
}

export async function connect(user: string, signal: AbortSignal): Promise<MailConnection> {
  signal.throwIfAborted()
  return {
    fetch: async () => kept.get(user) ?? [],
    forget: async (mails, { token }) => {
      if (token < (tokens.get(user) ?? 0)) throw new Error(`token ${token} is over`)
      tokens.set(user, token)
      kept.set(user, kept.get(user)?.filter((mail) => !mails.includes(mail)) ?? [])
    },
    close: async () => {},
  }
}
