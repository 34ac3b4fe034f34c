/** Gives jsdom the observers that it lacks: they never report anything. A test that needs a report stubs its own. */
class Silent {
  observe(): void {
    return;
  }

  unobserve(): void {
    return;
  }

  disconnect(): void {
    return;
  }
}

Object.assign(globalThis, { ResizeObserver: Silent, IntersectionObserver: Silent });
