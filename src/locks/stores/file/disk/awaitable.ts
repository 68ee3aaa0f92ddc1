/** What an operation on files settles with: at once or later. */
export type Awaitable<A> = A | Promise<A>
