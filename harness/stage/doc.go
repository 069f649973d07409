// Package stage sets the stage for scenarios: a private PostgreSQL, Toxiproxy
// inside the process, stand-in providers, and the service under test as child
// processes behind a small balancer. It takes everything down again.
//
// The rules it keeps: what runs is real (real processes that can be killed, a
// real database, real connections); nothing is left behind, also after a
// crash; order comes from gates and held locks, never from sleeping; and
// whatever a scenario does is in its history.
//
// A test binary serves as the service too: call Child at the top of TestMain.
// One stage serves many scenarios, one after the other, each in a World of its
// own with owners that nobody used before:
//
//	s, err := stage.Start(ctx, stage.Options{})     // 1 s; the first time on a machine 2 s
//	defer s.Close()
//	w, err := s.World(ctx, "lost-response-retry")   // or stage.Isolated(...) for an own service
//	defer w.Close()
//
//	cut, err := w.LostResponse(ctx)                 // in place before anybody connects
//	client := w.Client("client-1")                  // owner 1, through the balancer
//	first := w.Provider(stage.OpenAI).Hold(stage.Match{Text: "a"})
//
//	_, err = client.Through(cut.URL()).Submit(ctx, w.Key("a"), w.Intent("a"))
//	// target.IsUnknown(err), and cut.Fired()
//	job, err := client.Submit(ctx, w.Key("a"), w.Intent("a"))
//	// job.Replayed, job.Answer.Status == 200
//	err = first.Await(ctx)                          // the provider has the request
//	first.Release()
//	job, err = w.Status(ctx, client, job.ID, "succeeded")
//	err = w.Finish(ctx, 5*time.Second)              // heal, drain, read all rows
//	// judge w.History()
package stage
